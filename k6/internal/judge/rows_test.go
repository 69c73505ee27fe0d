// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"strings"
	"testing"

	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
)

func TestAPercentileThatTooFewSamplesCarryIsNotShown(t *testing.T) {
	e := complete()
	e.Operations[0].Bounds = bounds(map[string]float64{"p(99)": 100})
	j := judged(t, e, sent(50, 0))
	if latency := j.Operations[0].LatencyMS; latency.P99 != nil || *latency.P95 != 10 {
		t.Errorf("%+v", latency)
	}
	isJudged(t, "50 samples", j, "inconclusive", "50 samples are too few for a threshold on P99")
	for samples, carried := range map[int64]bool{19: false, 20: true} {
		if Carries(0.95, samples) != carried {
			t.Errorf("a P95 of %d samples", samples)
		}
	}
}

func TestWhatWasBegunAndNeverEndedWasCut(t *testing.T) {
	e := complete()
	row := judged(t, e, sent(1000, 0).with(fake{"operation_begun{operation:send}": {"count": 1003}})).Operations[0]
	if row.Requests != 1003 || row.Success != 1000 || row.Errors["cut"] != 3 {
		t.Errorf("%+v", row)
	}
}

func TestTheWindowIsThePlannedTimeWhereTimeBoundsTheRun(t *testing.T) {
	e := complete()
	e.Plan.Iterations, e.Plan.Seconds, e.LoadS, e.Operations[0].PlannedS = nil, 10, 10, 10
	if row := judged(t, e, sent(1000, 0)).Operations[0]; row.WindowS != 10 || *row.RatePerS != 100 {
		t.Errorf("%+v", row)
	}
	e.LoadS = 5
	if row := judged(t, e, sent(1000, 0)).Operations[0]; row.WindowS != 2 {
		t.Errorf("a run that ended early has no more time than it had: %+v", row)
	}
}

// probed has the metrics of a probe of 100 operations.
func probed(name string, ms, seconds float64) fake {
	of := func(metric string) string { return metric + "{operation:" + name + "}" }
	return fake{
		of("operation_ms"):                {"count": 100, "avg": ms, "min": ms, "med": ms, "p(90)": ms, "p(95)": 2 * ms, "p(99)": 3 * ms, "p(99.9)": ms, "max": ms},
		of("operation_failed"):            {"passes": 0, "fails": 100},
		of("operation_active_s"):          {"count": seconds},
		of("operation_bytes"):             {"count": 1_000_000},
		of("operation_probe_cpu_s"):       {"count": 0.001},
		of("operation_system_cpu_s"):      {"count": 0.01},
		of("operation_system_peak_bytes"): {"count": 1},
	}
}

func TestAProbesRateIsOverTheTimeThatItMeasuredAndItsControlTellsWhatTheSystemAdds(t *testing.T) {
	e := complete()
	e.Operations = []Operation{{Name: "tcp", Loop: "closed", Control: "tcp_direct", Saturates: true}, {Name: "tcp_direct", Loop: "closed"}}
	j := judged(t, e, probed("tcp", 3, 4).with(probed("tcp_direct", 1, 1)))
	row := j.Operations[0]
	if row.WindowS != 4 || *row.RatePerS != 25 || *row.Transfer.MbitPerS != 2 || *row.CPU.SystemUSPerOperation != 100 || *row.CPU.ProbeUSPerOperation != 10 {
		t.Errorf("%+v", row)
	}
	if c := j.Controls[0]; *c.P50MS != 2 || *c.P95MS != 4 || *c.P99MS != 6 || *c.RateRatio != 0.25 {
		t.Errorf("%+v", c)
	}
	if c := checkNamed(t, j, "generator headroom: tcp"); !*c.OK {
		t.Errorf("%+v", c)
	}
}

func TestWhatRequestsCarryIsCountedWhereTheyCarryMany(t *testing.T) {
	e := complete()
	if row := judged(t, e, sent(1000, 0)).Operations[0]; row.Items != nil {
		t.Errorf("%+v", row.Items)
	}
	e.Operations[0].Items = "messages"
	row := judged(t, e, sent(1000, 0).with(fake{"operation_items{operation:send}": {"count": 5000}})).Operations[0]
	if row.Items == nil || row.Items.Name != "messages" || row.Items.Count != 5000 || *row.Items.RatePerS != 2500 {
		t.Errorf("%+v", row.Items)
	}
}

func TestAHandshakeCarriesNothingAndASystemThatNobodyWatchedHasNoCPU(t *testing.T) {
	e := complete()
	metrics := probed("send", 1, 1).with(fake{"operation_bytes{operation:send}": {"count": 0}, "operation_system_peak_bytes{operation:send}": {"count": 0}})
	row := judged(t, e, metrics).Operations[0]
	if row.Transfer != nil || row.CPU == nil || row.CPU.SystemS != nil {
		t.Errorf("%+v %+v", row.Transfer, row.CPU)
	}
}

func TestAPercentileThatMayBeTheGeneratorsLatenessIsNotShownAndNoThresholdOnItIsCrossed(t *testing.T) {
	of := func(bound map[string]float64) Judged {
		e := complete()
		e.Operations[0].Loop, e.Operations[0].Bounds, e.Usage = "open", bounds(bound), usage(20, 40, 50, "")
		return judged(t, e, sent(1000, 0).with(fake{
			"operation_ms{operation:send}":          record.Values{"count": 1000, "avg": 5, "min": 1, "med": 0.1, "p(90)": 8, "p(95)": 0.3, "p(99)": 0.4, "p(99.9)": 4, "max": 40},
			"operation_lateness_ms{operation:send}": record.Values{"count": 1000, "med": 0.01, "p(90)": 0.1, "p(95)": 0.12, "p(99)": 0.35, "p(99.9)": 1},
		}))
	}
	fine := of(map[string]float64{"p(99)": 1})
	if latency := fine.Operations[0].LatencyMS; *latency.P50 != 0.1 || *latency.P95 != 0.3 || latency.P99 != nil || *latency.P999 != 4 {
		t.Errorf("%+v", latency)
	}
	isJudged(t, "with the lateness in it, it holds", fine, "pass", "")
	if text, _ := json.Marshal(fine.Validity); !strings.Contains(string(text), "more than half of P99, which is not shown") {
		t.Errorf("%s", text)
	}
	crossed := of(map[string]float64{"p(99)": 0.2})
	isJudged(t, "crossed", crossed, "inconclusive", "P99 at most 0.2 ms cannot be judged")
	if c := checkNamed(t, crossed, "generator lateness: send"); *c.OK || !strings.HasSuffix(c.Detail, "; P99 at most 0.2 ms cannot be judged") {
		t.Errorf("%+v", c)
	}
	isJudged(t, "the P95 can be told", of(map[string]float64{"p(95)": 0.2}), "fail", "P95 0.300 ms, at most 0.2 ms")
}

func TestWhatAComparisonMustFindWithinItsBoundIsInTheResultWhereTheScenarioNamesIt(t *testing.T) {
	e := complete()
	without, _ := json.Marshal(judged(t, e, sent(1000, 0)).Operations[0])
	e.Operations[0].Primary = "p50"
	with, _ := json.Marshal(judged(t, e, sent(1000, 0)).Operations[0])
	if strings.Contains(string(without), "primary") || !strings.Contains(string(with), `"primary":"p50"`) {
		t.Errorf("%s\n%s", without, with)
	}
}

func TestAProbeThatDidNothingHasNoRateAndNoTimeOfEachOperation(t *testing.T) {
	e := complete()
	metrics := probed("send", 1, 1).with(fake{"operation_ms{operation:send}": {}, "operation_failed{operation:send}": {}})
	row := judged(t, e, metrics).Operations[0]
	if row.Transfer == nil || row.Transfer.MbitPerS != nil || row.CPU == nil || row.CPU.ProbeUSPerOperation != nil || row.RatePerS != nil {
		t.Errorf("%+v %+v %+v", row, row.Transfer, row.CPU)
	}
}

func TestWhatASystemAddsIsNotToldWhereOneSideHasNothing(t *testing.T) {
	d := Declared{Operations: []Operation{{Name: "tcp", Control: "direct"}, {Name: "direct"}}}
	one := &result.Latency{P50: p(3.0), P99: p(9.0)}
	for about, c := range map[string]struct {
		own, direct result.Operation
		p50         bool
		ratio       bool
	}{
		"both":        {result.Operation{LatencyMS: one, RatePerS: p(1.0)}, result.Operation{LatencyMS: &result.Latency{P50: p(1.0)}, RatePerS: p(2.0)}, true, true},
		"no latency":  {result.Operation{RatePerS: p(1.0)}, result.Operation{LatencyMS: one, RatePerS: p(2.0)}, false, true},
		"no control":  {result.Operation{LatencyMS: one, RatePerS: p(1.0)}, result.Operation{}, false, false},
		"a rate of 0": {result.Operation{LatencyMS: one, RatePerS: p(1.0)}, result.Operation{RatePerS: p(0.0)}, false, false},
	} {
		c.own.Name, c.direct.Name = "tcp", "direct"
		found := controlsOf(d, []result.Operation{c.own, c.direct})
		if len(found) != 1 || (found[0].P50MS != nil) != c.p50 || (found[0].RateRatio != nil) != c.ratio || found[0].P95MS != nil || found[0].P99MS != nil {
			t.Errorf("%s: %+v", about, found)
		}
	}
}
