// SPDX-License-Identifier: AGPL-3.0-only

package windtunnel

import (
	"fmt"
	"strings"
	"testing"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/influx"
)

func TestBoundsAreOfWhatJudges(t *testing.T) {
	thresholds := map[string]metrics.Thresholds{
		"operation_ms{operation:publish}":             metrics.NewThresholds([]string{"min>=0", "p(95)<250", "max<1e3"}),
		"operation_failed{operation:publish}":         metrics.NewThresholds([]string{"rate<=0"}),
		"operation_failed{operation:read}":            metrics.NewThresholds([]string{"rate<=1"}),
		"operation_errors{operation:publish}":         metrics.NewThresholds([]string{"count<=0"}),
		"operation_ms{operation:publish,step:1}":      metrics.NewThresholds([]string{"p(95)<250"}),
		"operation_ms":                                metrics.NewThresholds([]string{"p(95)<1"}),
		"operation_errors{operation:read,kind:reset}": metrics.NewThresholds([]string{"count>=0"}),
	}
	var b influx.Batch
	run := map[string]string{"testid": "t", "system": "pulsar", "scenario": "ingest", "profile": "quick", "driver": "x"}
	boundPoints(&b, boundsOf(thresholds, run, &budget{}), 100)
	const tags = "bounds,operation=publish,profile=quick,scenario=ingest,system=pulsar,testid=t,threshold="
	want := tags + "operation_failed\\ rate<\\=0 bound=0 100000\n" +
		tags + "operation_ms\\ p(95)<250 bound=250 100000\n" + tags + "operation_ms\\ max<1e3 bound=1000 100000\n"
	if got := b.Lines(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestBoundsAreOfTheBudgetToo(t *testing.T) {
	thresholds := map[string]metrics.Thresholds{}
	for i := range mostSeries + 5 {
		thresholds[fmt.Sprintf("operation_ms{operation:o%d}", i)] = metrics.NewThresholds([]string{"p(95)<1"})
	}
	series := &budget{}
	if got := len(boundsOf(thresholds, nil, series)); got != mostSeries || !series.full.Load() {
		t.Errorf("%d bounds, full %v", got, series.full.Load())
	}
}

// TestALineHasItsEnds expects the ends of a bound's line, and points in between.
func TestALineHasItsEnds(t *testing.T) {
	o := &Output{bounds: []bound{{influx.Tags{"operation": "publish"}, 250}}}
	var seconds []string
	for second := int64(100); second <= 125; second++ {
		var b influx.Batch
		o.addBounds(&b, second, second == 125)
		if b.Lines() != "" {
			seconds = append(seconds, strings.Fields(b.Lines())[2])
		}
	}
	if got := strings.Join(seconds, " "); got != "100000 110000 120000 125000" {
		t.Error(got)
	}
}
