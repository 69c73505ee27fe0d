// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"testing/quick"

	"go.k6.io/k6/metrics"
)

var (
	send  = map[string]string{"operation": "send"}
	first = map[string]string{"operation": "send", "step": "0"}
)

// shapes are distributions of latencies in ms: spread, whole ms with many ties, one value, two values, some negative,
// and long.
var shapes = map[string]func(*rand.Rand) float64{
	"spread": func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) },
	"whole":  func(r *rand.Rand) float64 { return math.Floor(5 * math.Exp(r.NormFloat64())) },
	"one":    func(*rand.Rand) float64 { return 7.25 },
	"two":    func(r *rand.Rand) float64 { return float64(r.IntN(2)) },
	"below":  func(r *rand.Rand) float64 { return r.NormFloat64() },
	"long":   func(r *rand.Rand) float64 { return 1e9 * r.Float64() },
}

// split gives each sample to one of the parts, and all samples to the whole.
func split(parts, samples int, shape func(*rand.Rand) float64, to func(int) int, random *rand.Rand) (whole *Record, all []*Record) {
	whole = New()
	for range parts {
		all = append(all, New())
	}
	steps := make([]map[*Record][]*Series, 3)
	for n := range steps {
		steps[n] = map[*Record][]*Series{}
		tags := map[string]string{"operation": "send", "step": fmt.Sprint(n)}
		for _, r := range append(all, whole) {
			steps[n][r] = []*Series{
				r.Series("operation_ms", metrics.Trend, tags), r.Series("operation_failed", metrics.Rate, tags),
				r.Series("operation_items", metrics.Counter, tags), r.Series("operation_clock_ms", metrics.Gauge, tags),
			}
		}
	}
	for n := range samples {
		step := steps[random.IntN(3)]
		own := step[all[to(n)]]
		for i, value := range []float64{shape(random), float64(random.IntN(2)), 2, float64(n)} {
			step[whole][i].Add(value)
			own[i].Add(value)
		}
	}
	return whole, all
}

// asFiles returns the records as read from files.
func asFiles(t *testing.T, all []*Record) (read []*Record) {
	t.Helper()
	for _, r := range all {
		made, _, err := opened(written(t, r))
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, made)
	}
	return read
}

// plainly computes the figures from all samples in one sorted list, like k6.
func plainly(samples []float64) Values {
	all := make([]int64, len(samples))
	var total sum
	for i, value := range samples {
		all[i] = millionths(value)
		total.add(all[i])
	}
	slices.Sort(all)
	last := len(all) - 1
	values := Values{"count": float64(len(all)), "avg": total.float() / 1e6 / float64(len(all)), "min": inUnits(all[0]), "max": inUnits(all[last])}
	for _, p := range Percentiles {
		name, share := p.Name, p.Share
		rank := share * float64(last)
		low, high := inUnits(all[int(math.Floor(rank))]), inUnits(all[int(math.Ceil(rank))])
		values[name] = low + (high-low)*(rank-math.Floor(rank))
	}
	return values
}

func TestPartsAreTheWholeToTheLastDigit(t *testing.T) {
	for name, shape := range shapes {
		// So many samples that most parts have several blocks in each series.
		for parts, samples := range map[int]int{1: 30_000, 2: 30_000, 7: 90_000, 100: 10_000} {
			random := rand.New(rand.NewPCG(uint64(parts), 1))
			whole, all := split(parts, samples, shape, func(n int) int { return n % parts }, random)
			for about, records := range map[string][]*Record{"in memory": all, "in files": asFiles(t, all)} {
				set := Together(records...)
				for metric, tags := range map[string]map[string]string{
					"operation_ms": send, "operation_failed": send, "operation_items": first, "operation_clock_ms": nil,
				} {
					want, _ := whole.Values(metric, tags)
					got, _ := set.Values(metric, tags)
					if metric == "operation_clock_ms" {
						// The last value is that of the last record.
						delete(want, "value")
						delete(got, "value")
					}
					if !maps.Equal(got, want) || set.Err() != nil {
						t.Errorf("%s, %d parts %s: %s: %v, the whole %v, %v", name, parts, about, metric, got, want, set.Err())
					}
				}
			}
		}
	}
}

func TestPercentilesAreThoseOfAPlainSortedList(t *testing.T) {
	for name, shape := range shapes {
		for _, samples := range []int{1, 2, 3, 4095, 4096, 4097, 30_000} {
			r := New()
			random := rand.New(rand.NewPCG(3, uint64(samples)))
			var values []float64
			for range samples {
				values = append(values, shape(random))
				r.Series("operation_ms", metrics.Trend, send).Add(values[len(values)-1])
			}
			want := plainly(values)
			got, _ := Together(asFiles(t, []*Record{r})...).Values("operation_ms", nil)
			if !maps.Equal(got, want) {
				t.Errorf("%s, %d samples: %v, want %v", name, samples, got, want)
			}
		}
	}
}

func TestAnySplitIsTheWhole(t *testing.T) {
	names := slices.Sorted(maps.Keys(shapes))
	holds := func(seed uint64, parts, shape uint8, samples uint16) bool {
		random := rand.New(rand.NewPCG(seed, 5))
		count := 1 + int(parts)%12
		// Parts of very different sizes, some empty.
		whole, all := split(count, 1+int(samples)%10_000, shapes[names[int(shape)%len(names)]], func(int) int { return int(float64(count) * random.Float64() * random.Float64()) }, random)
		want, _ := whole.Values("operation_ms", send)
		got, _ := Together(asFiles(t, all)...).Values("operation_ms", send)
		return maps.Equal(got, want)
	}
	if err := quick.Check(holds, &quick.Config{MaxCount: 30}); err != nil {
		t.Error(err)
	}
}

func TestHistogramsBesideExactPartsAreWithinTheStatedError(t *testing.T) {
	for name, shape := range shapes {
		if name == "below" {
			continue // a histogram holds no negative value
		}
		random := rand.New(rand.NewPCG(9, 9))
		whole, all := split(5, 10_000, shape, func(n int) int { return n % 5 }, random)
		for rough := range 6 {
			for i, r := range all {
				for _, s := range r.series {
					if i < rough && s.kind == metrics.Trend {
						s.samples.spill()
					}
				}
			}
			want, _ := whole.Values("operation_ms", send)
			for about, records := range map[string][]*Record{"in memory": all, "in files": asFiles(t, all)} {
				got, _ := Together(records...).Values("operation_ms", send)
				if (got["error"] == Error) != (rough > 0) {
					t.Errorf("%s, %d histograms: error %g", name, rough, got["error"])
				}
				for figure, value := range want {
					most := Error * value
					if figure == "count" || figure == "avg" || figure == "min" || figure == "max" {
						most = 0
					}
					if math.Abs(got[figure]-value) > most {
						t.Errorf("%s, %d histograms %s: %s %g, exactly %g", name, rough, about, figure, got[figure], value)
					}
				}
			}
		}
	}
}

func TestASumIsExactWhateverItsOrder(t *testing.T) {
	forth, back := sum{}, sum{}
	all := []int64{math.MaxInt64, math.MaxInt64, -5, math.MinInt64, math.MaxInt64, 3, math.MinInt64}
	for i := range all {
		forth.add(all[i])
		back.add(all[len(all)-1-i])
	}
	if forth != back || forth.big().String() != fmt.Sprint(math.MaxInt64-2-2) {
		t.Errorf("%v %v", forth.big(), back.big())
	}
	for _, parts := range [][]int64{{-1}, {math.MinInt64, math.MinInt64}, {math.MaxInt64, math.MaxInt64}, {0}} {
		var s, read, merged sum
		for _, value := range parts {
			s.add(value)
			merged.merge(sum{high: value >> 63, low: uint64(value)})
		}
		text, _ := s.MarshalText()
		if err := read.UnmarshalText(text); err != nil || read != s || merged != s {
			t.Errorf("%s: %v %v %v", text, s, read, err)
		}
	}
}

func TestAClockIsShifted(t *testing.T) {
	r := New()
	r.Series("operation_clock_ms", metrics.Gauge, send).Add(5)
	r.Series("operation_clock_ms", metrics.Gauge, send).Add(9)
	r.Series("operation_clock_ms", metrics.Gauge, map[string]string{"operation": "idle"})
	r.Shift("operation_clock_ms", -3_600_000)
	if values, _ := r.Values("operation_clock_ms", send); !maps.Equal(values, Values{"min": -3_599_995, "max": -3_599_991, "value": -3_599_991}) {
		t.Error(values)
	}
	if values, _ := r.Values("operation_clock_ms", map[string]string{"operation": "idle"}); values["min"] != 0 || values["max"] != 0 {
		t.Error("a clock that was never read has a time", values)
	}
}

func TestHowManySamplesAreAbove(t *testing.T) {
	whole, all := split(3, 10_000, shapes["whole"], func(n int) int { return n % 3 }, rand.New(rand.NewPCG(4, 4)))
	set := Together(asFiles(t, all)...)
	for _, value := range []float64{-1, 0, 3, 3.5, 1e6} {
		want := int64(0)
		for _, s := range whole.matching("operation_ms", send) {
			for _, sample := range s.samples.exact {
				if inUnits(sample) > value {
					want++
				}
			}
		}
		if got := set.Above("operation_ms", send, value); got != want || set.Err() != nil {
			t.Errorf("%d above %g, want %d, %v", got, value, want, set.Err())
		}
	}
	if set.Above("operation_ms", map[string]string{"operation": "poll"}, 0) != 0 {
		t.Error("what is not there is above")
	}
}

// gone is a file that can be read only once.
type gone struct {
	*bytes.Reader
	closed bool
}

func (g *gone) ReadAt(p []byte, at int64) (int, error) {
	if g.closed {
		return 0, os.ErrClosed
	}
	return g.Reader.ReadAt(p, at)
}

func TestAFileThatCannotBeReadAgainIsAnError(t *testing.T) {
	file := &gone{Reader: bytes.NewReader(written(t, filled(50_000, MostExact)))}
	r, _, err := Read(file, file.Size())
	if err != nil {
		t.Fatal(err)
	}
	file.closed = true
	set := Together(r)
	if values, ok := set.Values("operation_ms", send); ok || set.Err() == nil {
		t.Error(values, set.Err())
	}
	if set = Together(r); set.Above("operation_ms", send, 1) < 0 || set.Err() == nil {
		t.Error("above what nobody can read")
	}
}
