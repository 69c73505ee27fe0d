// SPDX-License-Identifier: AGPL-3.0-only

package record

import "testing"

// TestHeldRecords holds two latencies, a counter and what a part adds; want are the kept latencies and the counter.
func TestHeldRecords(t *testing.T) {
	for name, one := range map[string]struct{ after, want string }{
		"released":                        {`release()`, "2,1"},
		"discarded":                       {`drop()`, "undefined,undefined"},
		"evidence against the system":     {`trip.failures('corrupted', 1); drop()`, "2,1"},
		"an anomaly is evidence":          {`trip.anomaly('duplicated', 1); drop()`, "2,1"},
		"a busy machine can cause a loss": {`trip.failures('lost', 1); drop()`, "undefined,undefined"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTest(t)
			x.run(`const trip = new Operation('trip'), cut = new Counter('cut')`)
			x.begin()
			x.run(`hold(); for (const ns of [1e6, 3e6]) trip.samples({ values: { round_trip: [ns] }, ends: {} }, 'round_trip')
cut.add(1)`)
			if given := x.given(); len(given) > 0 {
				t.Errorf("k6 got %d samples of held records", len(given))
			}
			got := x.run(one.after + `; [measured({})['operation_ms{operation:trip}']?.values.med, measured({}).cut?.values.count].map(String).join()`)
			if got != one.want {
				t.Errorf("%s, want %s", got, one.want)
			}
			if x.run(`String(isHeld())`) != "false" {
				t.Error("it is still held")
			}
		})
	}
}

func TestCountsOfAFarEndAreNeverHeld(t *testing.T) {
	x := newTest(t)
	x.run(`const trip = new Operation('trip')`)
	x.begin()
	if got := x.run(`hold(); trip.farEnd(null); drop(); String(measured({})['operation_far_end{operation:trip,count:none,of:found}'].values.count)`); got != "1" {
		t.Error(got)
	}
}
