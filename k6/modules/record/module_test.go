// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"go.k6.io/k6/js/modulestest"
	"go.k6.io/k6/lib"
	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/record"
)

// test is a VU whose script has the module's exports as globals, with the samples that k6 got.
type test struct {
	*modulestest.Runtime
	t       *testing.T
	record  *record.Record
	samples chan metrics.SampleContainer
}

func newTest(t *testing.T) test {
	t.Helper()
	rt := modulestest.NewRuntime(t)
	kept := record.New()
	for name, value := range exportsOf(kept, newShared())(rt.VU) {
		if err := rt.VU.RuntimeField.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return test{rt, t, kept, make(chan metrics.SampleContainer, 1000)}
}

// begin ends the init context.
func (x test) begin() {
	registry := metrics.NewRegistry()
	x.MoveToVUContext(&lib.State{
		Logger:  logrus.New(),
		Samples: x.samples,
		Tags:    lib.NewVUStateTags(registry.RootTagSet().With("scenario", "closed")),
	})
}

func (x test) run(text string) string {
	x.t.Helper()
	value, err := x.VU.RuntimeField.RunString(text)
	if err != nil {
		x.t.Fatal(err)
	}
	return value.String()
}

// given returns the samples that k6 got since the last call.
func (x test) given() (all []metrics.Sample) {
	for {
		select {
		case container := <-x.samples:
			all = append(all, container.GetSamples()...)
		default:
			return all
		}
	}
}

func TestASuccessEndsTheSilence(t *testing.T) {
	x := newTest(t)
	x.run(`const look = new Operation('look')`)
	x.begin()
	x.run(`hold()`)
	if since := x.run(`unanswered(1); unanswered(2); unanswered(3)`); since != "1" {
		t.Errorf("three requests without an answer: %s", since)
	}
	if since := x.run(`look.success(4, 5, 1, 1); unanswered(6)`); since != "-1" {
		t.Errorf("after a success: %s", since)
	}
}

func TestOperation(t *testing.T) {
	x := newTest(t)
	x.run(`const send = new Operation('send'), look = new Operation('look', { bounded: true, uncounted: true })`)
	x.begin()
	x.run(`send.begin(); send.success(100, 103, 3, 1)
send.begin(); send.success(103, 110, 5, 50)
send.begin(); send.failure('http_429', 110, 111)
send.begin(); send.anomaly('duplicated', 2); send.late(0.25); send.late(-1)
look.success(5, 6, 1, 1); look.failure('timeout', 4, 60)`)
	x.run(`const all = measured({ iterations: { values: { count: 4 } } })
const of = (name) => JSON.stringify(all[name]?.values)`)
	for name, want := range map[string]string{
		"operation_begun{operation:send}":                `{"count":4}`,
		"operation_items{operation:send}":                `{"count":51}`,
		"operation_errors{operation:send,kind:http_429}": `{"count":1}`,
		"operation_errors{operation:send}":               `{"count":3}`,
		"operation_anomalies{operation:send}":            `{"count":2}`,
		"operation_items{operation:look}":                `{"count":0}`,
		"iterations":                                     `{"count":4}`,
	} {
		if got := x.run(`of('` + name + `')`); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for expression, want := range map[string]string{
		`all['operation_ms{operation:send}'].values.med`:          "4",
		`all['operation_failed{operation:send}'].values.passes`:   "1",
		`all['operation_clock_ms{operation:send}'].values.min`:    "100",
		`all['operation_clock_ms{operation:send}'].values.max`:    "111",
		`all['operation_clock_ms{operation:look}'].values.max`:    "6",
		`all['operation_lateness_ms{operation:send}'].values.max`: "0.25",
		`all['operation_lateness_ms{operation:send}'].values.min`: "0",
		`all['operation_ms{operation:none}']`:                     "undefined",
	} {
		if got := x.run(`String(` + expression + `)`); got != want {
			t.Errorf("%s: %s, want %s", expression, got, want)
		}
	}
	counts := map[string]int{}
	for _, sample := range x.given() {
		counts[sample.Metric.Name]++
		if scenario, _ := sample.Tags.Get("scenario"); scenario != "closed" {
			t.Errorf("%s without the run's tags", sample.Metric.Name)
		}
	}
	if counts["operation_ms"] != 3 || counts["operation_failed"] != 5 || counts["operation_items"] != 2 || counts["operation_errors"] != 3 {
		t.Error(counts)
	}
}

func TestSamplesOfAProbeHaveTheirOwnTimes(t *testing.T) {
	x := newTest(t)
	x.run(`const trip = new Operation('trip')`)
	x.begin()
	x.run(`trip.samples({ values: { round_trip: [5e5, 1e6] }, ends: { round_trip: [1e12, 1e12 + 1500.25] } }, 'round_trip')
trip.samples({ values: {}, ends: {} }, 'total'); trip.failures('lost', 2)`)
	var ends []time.Time
	items := map[int64]float64{} // by second
	for _, sample := range x.given() {
		switch sample.Metric.Name {
		case "operation_ms":
			ends = append(ends, sample.Time)
		case "operation_items":
			items[sample.Time.Unix()] += sample.Value
		}
	}
	if len(items) != 2 || items[1e9] != 1 || items[1e9+1] != 1 {
		t.Error(items)
	}
	if len(ends) != 2 || ends[0].UnixMilli() != 1e12 || ends[1].Sub(ends[0]) != 1500250*time.Microsecond {
		t.Error(ends)
	}
	if got := x.run(`JSON.stringify(measured({})['operation_failed{operation:trip}'].values)`); !strings.Contains(got, `"passes":2`) {
		t.Error(got)
	}
	if _, err := x.VU.RuntimeField.RunString(`trip.samples({ values: { total: [1, 2] }, ends: { total: [1e12] } }, 'total')`); err == nil || !strings.Contains(err.Error(), "2 samples and 1 times") {
		t.Error(err)
	}
}

func TestMetricAndWhatIsSaid(t *testing.T) {
	x := newTest(t)
	x.run(`const changes = new Counter('user_changes'), spent = new Trend('component_ms', true)`)
	x.begin()
	x.run(`changes.add(2, { change: 'created' }); changes.add(true, { change: 'created' }); spent.add(1.5)
say('census', { users: null, names: ['ä'] })`)
	if got := x.run(`measured({})['user_changes{change:created}'].values.count`); got != "3" {
		t.Error(got)
	}
	if got := x.run(`JSON.stringify(said())`); got != `{"census":{"names":["ä"],"users":null}}` {
		t.Error(got)
	}
	if got := x.run(`share('anna', 'key ä'); JSON.stringify([shared('anna'), shared('berta'), said()])`); got != `["key ä",null,{"census":{"names":["ä"],"users":null}}]` {
		t.Error(got)
	}
	if given := x.given(); len(given) != 3 || given[2].Metric.Contains != metrics.Time {
		t.Error(given)
	}
	if _, err := x.VU.RuntimeField.RunString(`changes.add('many')`); err == nil || !strings.Contains(err.Error(), "many is no number") {
		t.Error(err)
	}
}

func TestNothingIsRecordedInTheInitContext(t *testing.T) {
	x := newTest(t)
	for _, text := range []string{`new Operation('send').begin()`, `new Counter('one').add(1)`} {
		if _, err := x.VU.RuntimeField.RunString(text); err == nil || !strings.Contains(err.Error(), "outside of setup") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTheFarEndsCountsAreKeptByOperation(t *testing.T) {
	x := newTest(t)
	x.run(`const tcp = new Operation('tcp'), udp = new Operation('udp')`)
	x.begin()
	x.run(`tcp.farEnd({ bytes_up: { least: 100, most: 100, found: 60 }, connections: { least: 1, most: null, found: 3 } })
udp.farEnd(null)
const all = measured({})
const of = (name) => all[` + "`operation_far_end{${name}}`" + `]?.values.count`)
	for name, want := range map[string]string{
		"operation:tcp,count:bytes_up,of:least":      "100",
		"operation:tcp,count:bytes_up,of:found":      "60",
		"operation:tcp,count:bytes_up,of:missing":    "40",
		"operation:tcp,count:bytes_up,of:beyond":     "0",
		"operation:tcp,count:connections,of:missing": "0",
		"operation:udp,count:none,of:found":          "1",
	} {
		if got := x.run("String(of('" + name + "'))"); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if given := x.given(); len(given) > 0 {
		t.Errorf("k6 got %d samples of it", len(given))
	}
}
