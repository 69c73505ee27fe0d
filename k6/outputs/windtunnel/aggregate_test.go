// SPDX-License-Identifier: AGPL-3.0-only

package windtunnel

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/influx"
)

var begin = time.Unix(1_800_000_000, 0)

// recorder makes samples like k6.
type recorder struct {
	registry *metrics.Registry
	a        *aggregate
}

func newRecorder() *recorder { return &recorder{metrics.NewRegistry(), newAggregate()} }

func (r *recorder) sample(name string, kind metrics.MetricType, value, at float64, pairs ...string) metrics.Sample {
	tags := r.registry.RootTagSet().With("testid", "t1").With("vu", "7")
	for i := 0; i < len(pairs); i += 2 {
		tags = tags.With(pairs[i], pairs[i+1])
	}
	return metrics.Sample{TimeSeries: metrics.TimeSeries{Metric: r.registry.MustNewMetric(name, kind), Tags: tags},
		Time: begin.Add(time.Duration(at * float64(time.Second))), Value: value}
}

func (r *recorder) add(name string, kind metrics.MetricType, value, at float64, pairs ...string) {
	s := r.sample(name, kind, value, at, pairs...)
	r.a.add(&s)
}

// lines are the points of all seconds that have ended by a time, sorted, with times relative to begin.
func (r *recorder) lines(at float64) []string {
	var lines []string
	for _, s := range r.a.take(begin.Add(time.Duration(at * float64(time.Second)))) {
		var b influx.Batch
		s.points(&b)
		for line := range strings.Lines(b.Lines()) {
			lines = append(lines, strings.TrimSuffix(strings.Replace(strings.TrimSpace(line), " 18000000", " +", 1), "000"))
		}
	}
	slices.Sort(lines)
	return lines
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestEachTypeHasItsFields(t *testing.T) {
	r := newRecorder()
	for _, v := range []float64{4, 1, 3, 2} {
		r.add("component_ms", metrics.Trend, v, 0.5, "component", "database", "operation", "create")
	}
	r.add("operation_items", metrics.Counter, 3, 0.1)
	r.add("operation_items", metrics.Counter, 0.5, 0.9)
	for _, v := range []float64{0, 1, 0} {
		r.add("operation_failed", metrics.Rate, v, 0.2)
	}
	for _, v := range []float64{5, -2, 3} {
		r.add("vus", metrics.Gauge, v, 0.3)
	}
	wantLines(t, r.lines(1),
		"component_ms,component=database,operation=create,testid=t1 count=4i,max=4,min=1,p50=2.5,p95=3.8499999999999996,p99=3.9699999999999998,sum=10 +00",
		"operation_failed,testid=t1 count=3i,hits=1i +00",
		"operation_items,testid=t1 count=3.5 +00",
		"vus,testid=t1 max=5,min=-2,value=3 +00")
}

func TestSecondsAreApartAndWait(t *testing.T) {
	r := newRecorder()
	r.add("iterations", metrics.Counter, 1, 0.999)
	r.add("iterations", metrics.Counter, 2, 1.0)
	r.add("iterations", metrics.Counter, 4, 2.5)
	wantLines(t, r.lines(0.99))
	wantLines(t, r.lines(2), "iterations,testid=t1 count=1 +00", "iterations,testid=t1 count=2 +01")
	wantLines(t, r.lines(2.9))
	wantLines(t, r.lines(3), "iterations,testid=t1 count=4 +02")
}

func TestTagsAreBounded(t *testing.T) {
	r := newRecorder()
	for vu := range 50 {
		r.add("http_reqs", metrics.Counter, 1, 0, "url", strings.Repeat("x", vu), "status", "200", "step", "3")
	}
	r.add("operation_failed", metrics.Rate, 1, 0, "operation", "create", "step", "3")
	r.add("operation_items", metrics.Counter, 1, 0, "operation", "create", "step", "3")
	wantLines(t, r.lines(1),
		"http_reqs,testid=t1 count=50 +00",
		"operation_failed,operation=create,step=3,testid=t1 count=1i,hits=1i +00",
		"operation_items,operation=create,testid=t1 count=1 +00")

	// The latencies of the first of two operations are in five buckets; those of the second come when the budget is used
	// up.
	for _, ms := range []float64{1, 10, 100, 1000, 10_000} {
		r.add("operation_ms", metrics.Trend, ms, 1, "operation", "create")
	}
	if got := len(r.lines(2)); got != 6 {
		t.Errorf("%d series", got)
	}
	if told := r.a.notice(); told != "" {
		t.Errorf("%q", told)
	}
	r.add("operation_ms", metrics.Trend, 1, 2, "operation", "delete")
	for n := range 3 * mostSeries {
		r.add("own", metrics.Counter, 1, 2, "kind", string(rune('a'+n%26))+strings.Repeat("x", n/26))
	}
	r.add("operation_ms", metrics.Trend, 10, 2, "operation", "create")
	if got := len(r.lines(3)); got != mostSeries-3-6+2 {
		t.Errorf("%d series", got)
	}
	const want = "k6 measures more than 6000 sets of tags: those beyond are not streamed; the results are complete"
	if told := r.a.notice(); told != want {
		t.Errorf("%q", told)
	}
	if told := r.a.notice(); told != "" {
		t.Errorf("it is told again: %q", told)
	}
}

func TestALateSampleIsInItsOwnSecond(t *testing.T) {
	r := newRecorder()
	r.add("iterations", metrics.Counter, 1, 60)
	wantLines(t, r.lines(61), "iterations,testid=t1 count=1 +60")
	// A probe's samples come after its end, or the clock was set back.
	r.add("iterations", metrics.Counter, 2, 60.9)
	r.add("iterations", metrics.Counter, 4, 55)
	wantLines(t, r.lines(61), "iterations,testid=t1 count=2 +60001", "iterations,testid=t1 count=4 +55")
	r.add("iterations", metrics.Counter, 8, 60)
	r.add("iterations", metrics.Counter, 16, 70)
	wantLines(t, r.lines(70), "iterations,testid=t1 count=8 +60002")
	wantLines(t, r.lines(71), "iterations,testid=t1 count=16 +70")
}

func TestASecondHasABoundedNumberOfParts(t *testing.T) {
	r := newRecorder()
	for range mostParts {
		r.add("iterations", metrics.Counter, 1, 5)
		r.lines(6)
	}
	r.add("iterations", metrics.Counter, 7, 5)
	wantLines(t, r.lines(7), "iterations,testid=t1 count=7 +06")
}

func TestWhatRepeatsAnotherIsLeftOut(t *testing.T) {
	r := newRecorder()
	for _, name := range []string{"http_req_duration", "iteration_duration", "group_duration"} {
		r.add(name, metrics.Trend, 1, 0)
	}
	for _, name := range []string{"component_largest", "panel_requests", "rounds_begun", "operation_active_s", "operation_bytes",
		"operation_probe_cpu_s", "operation_system_cpu_s"} {
		r.add(name, metrics.Counter, 1, 0)
	}
	r.add("http_req_failed", metrics.Rate, 0, 0)
	// The name of a user's metric may begin like the names of lib/panel.
	r.add("panel_logins", metrics.Counter, 3, 0)
	wantLines(t, r.lines(1), "http_req_failed,testid=t1 count=1i,hits=0i +00", "panel_logins,testid=t1 count=3 +00")
}

func TestLatenciesAreInBuckets(t *testing.T) {
	r := newRecorder()
	for _, v := range []float64{0, 0.01, 0.010001, 10, 10, 10.5, 20, 60000, 60001} {
		r.add("operation_ms", metrics.Trend, v, 0, "operation", "publish")
	}
	// Two steps in one second share a histogram: a second point of a series would replace the first.
	r.add("operation_ms", metrics.Trend, 19, 0, "operation", "publish", "step", "1")
	var found []string
	for _, line := range r.lines(1) {
		if strings.HasPrefix(line, "operation_ms_bucket") {
			found = append(found, strings.NewReplacer("operation_ms_bucket,", "", ",operation=publish,testid=t1", "").Replace(line))
		}
	}
	wantLines(t, found, "le=+Inf count=1i +00", "le=0.01 count=2i +00", "le=0.02 count=1i +00",
		"le=10 count=2i +00", "le=20 count=3i +00", "le=60000 count=1i +00")
}

// TestFiguresAreThoseOfK6 compares with the sink that k6 uses for thresholds.
func TestFiguresAreThoseOfK6(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 400; n++ {
		r, sink := newRecorder(), metrics.NewTrendSink()
		for range n {
			s := r.sample("own_ms", metrics.Trend, random.ExpFloat64()*10, 0)
			if random.IntN(3) == 0 {
				s.Value = float64(random.IntN(5))
			}
			r.a.add(&s)
			sink.Add(s)
		}
		fields := r.a.take(begin.Add(time.Second))[0].cells[0].fields()
		for name, want := range map[string]float64{"p50": sink.P(0.5), "p95": sink.P(0.95), "p99": sink.P(0.99),
			"min": sink.Min(), "max": sink.Max(), "sum": sink.Total()} {
			if fields[name] != want {
				t.Fatalf("%d samples: %s %v, k6 has %v", n, name, fields[name], want)
			}
		}
		if fields["count"] != int64(sink.Count()) {
			t.Fatalf("%d samples: count %v", n, fields["count"])
		}
	}
}

// BenchmarkAdd is the cost of one request of a scenario: the samples of k6's own metrics and of ours.
func BenchmarkAdd(b *testing.B) {
	r := newRecorder()
	tags := []string{"system", "pulsar", "scenario", "ingest", "profile", "quick", "operation", "publish", "status", "200"}
	var containers []metrics.SampleContainer
	var request metrics.ConnectedSamples
	request.Samples = append(request.Samples, r.sample("http_reqs", metrics.Counter, 1, 0, tags...))
	for _, name := range []string{"duration", "blocked", "connecting", "tls_handshaking", "sending", "waiting", "receiving"} {
		request.Samples = append(request.Samples, r.sample("http_req_"+name, metrics.Trend, 1, 0, tags...))
	}
	request.Samples = append(request.Samples, r.sample("http_req_failed", metrics.Rate, 0, 0, tags...))
	containers = append(containers, request)
	containers = append(containers, r.sample("operation_ms", metrics.Trend, 1.5, 0, tags...),
		r.sample("operation_failed", metrics.Rate, 0, 0, tags...), r.sample("operation_items", metrics.Counter, 1, 0, tags...),
		metrics.Samples{r.sample("iterations", metrics.Counter, 1, 0, tags...), r.sample("iteration_duration", metrics.Trend, 1, 0, tags...)})
	o := &Output{aggregate: r.a}
	b.ReportAllocs()
	for i := range b.N {
		o.AddMetricSamples(containers)
		if i%2000 == 1999 { // one second of requests
			o.aggregate.take(begin.Add(time.Second))
			clear(o.aggregate.taken)
		}
	}
}
