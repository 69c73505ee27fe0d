// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"go.k6.io/k6/metrics"
)

// counted counts bytes.
type counted struct{ bytes int64 }

func (c *counted) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return len(p), nil
}

// BenchmarkTenMillionSamples is a run of ten million requests: the cost of recording them, computing their percentiles
// and writing the record's file.
func BenchmarkTenMillionSamples(b *testing.B) {
	const samples = 10_000_000
	for b.Loop() {
		random := rand.New(rand.NewPCG(1, 2))
		before := inUse()
		r := New()
		series := r.Series("operation_ms", metrics.Trend, map[string]string{"operation": "send"})
		for range samples {
			series.Add(math.Exp(random.NormFloat64()))
		}
		b.ReportMetric(float64(inUse()-before)/(1<<20), "MiB")
		if values, _ := r.Values("operation_ms", nil); values["count"] != samples {
			b.Fatal(values)
		}
		file := &counted{}
		if err := r.Write(io.Writer(file), nil); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(file.bytes)/samples, "bytes/sample")
	}
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
