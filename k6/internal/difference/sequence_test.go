// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

func series(role Role, d []float64) Series { return Series{d, tenPercent, role} }

// TestAFixedNumberIsOneLook: without looks the answers are the same as Judge's.
func TestAFixedNumberIsOneLook(t *testing.T) {
	all := []Series{series(Primary, around(0, 0.02, 12)), series(Primary, around(0.3, 0.02, 12)), series(Shown, around(0.3, 0.02, 12))}
	got := Sequence(all, nil)
	for i, want := range []Outcome{Within, Beyond, Unclear} {
		if d := got[i]; d.Outcome != want || d.Pairs != 12 || d.Look != (Look{}) || d.ToDecide != 0 {
			t.Errorf("%d: %+v, want %s", i, d, want)
		}
	}
}

// TestWhatIsDecidedStaysSo: a metric that is within its bound at the first look needs no more pairs. The later look has
// a wider interval, but does not reverse the decision.
func TestWhatIsDecidedStaysSo(t *testing.T) {
	// With 12 pairs, the first look's interval excludes the extreme values, the third look's includes them.
	quiet := around(0, 0.04, 12)
	quiet[0], quiet[1], quiet[2] = 0.14, 0.14, 0.14
	all := []Series{series(Primary, quiet), series(Primary, around(0.2, 0.3, 26))}
	if late := Sequence(all, []int{1, 2, 12}); late[0].Outcome != Unclear {
		t.Fatalf("the example is not one: %+v", late[0])
	}
	first := Sequence(all, []int{12})
	if first[0].Outcome != Within || first[1].Outcome != Unclear || first[1].ToDecide <= 12 || first[1].Pairs != 12 {
		t.Fatalf("%+v", first)
	}
	all = append(all, series(Shown, around(0, 0.3, 12)), series(Primary, around(0, 0.3, 12)))
	then := Sequence(all, []int{12, 18, 26})
	for _, d := range then[2:] {
		if d.Look.Number != 1 || d.Lo == nil || d.Outcome != Unclear {
			t.Errorf("a look at no new pairs is told: %+v", d)
		}
	}
	if !reflect.DeepEqual(then[0], first[0]) {
		t.Errorf("first %+v, then %+v", first[0], then[0])
	}
	if d := then[1]; d.Outcome != Beyond || d.Look.Number == 1 || d.Pairs < 18 || d.ToDecide != 0 {
		t.Errorf("%+v", d)
	}
}

// TestOneOfManyTakesMoreTurns: one target of 49 rows with three targets each, missed by far, takes 15 turns, and the
// sequence says so; with fewer turns it is unclear.
func TestOneOfManyTakesMoreTurns(t *testing.T) {
	of := func(pairs int) Decision {
		all := []Series{series(Primary, around(0.5, 0.02, pairs))}
		for range 146 {
			all = append(all, series(Primary, around(0, 0.02, pairs)))
		}
		return Sequence(all, nil)[0]
	}
	for pairs, want := range map[int]Outcome{2: Unclear, 8: Unclear, 14: Unclear, 15: Beyond} {
		d := of(pairs)
		if d.Outcome != want {
			t.Errorf("%d: %s, want %s", pairs, d.Outcome, want)
		}
		if want == Unclear && d.ToDecide != 15 {
			t.Errorf("%d: %d are said to decide", pairs, d.ToDecide)
		}
	}
}

// TestNothingIsWithinThatCouldNotBeBeyond: equal sides with too few pairs to miss a target meet no target, and the
// number of pairs that the sequence asks for decides.
func TestNothingIsWithinThatCouldNotBeBeyond(t *testing.T) {
	of := func(metrics, pairs int, looks []int) Decision {
		var all []Series
		for range metrics {
			all = append(all, series(Primary, around(0, 0.01, pairs)))
		}
		return Sequence(all, looks)[0]
	}
	for _, metrics := range []int{1, 4, 196} {
		fewest := Look{}.FewestToBreak(Primary, metrics)
		for pairs := 2; pairs < fewest; pairs++ {
			if d := of(metrics, pairs, nil); d.Outcome != Unclear || d.ToDecide != fewest {
				t.Errorf("%d metrics, %d pairs: %s, and %d are said to decide, not %d", metrics, pairs, d.Outcome, d.ToDecide, fewest)
			}
		}
		if d := of(metrics, fewest, nil); d.Outcome != Within {
			t.Errorf("%d metrics, %d pairs: %s", metrics, fewest, d.Outcome)
		}
		first := Look{Number: 1}.FewestToBreak(Primary, metrics)
		if d := of(metrics, first, []int{first - 1, first + 9}); d.Outcome != Unclear {
			t.Errorf("%d metrics, a look at %d pairs: %s", metrics, first-1, d.Outcome)
		}
		if d := of(metrics, first, []int{first}); d.Outcome != Within {
			t.Errorf("%d metrics, a look at %d pairs: %s", metrics, first, d.Outcome)
		}
	}
}

// TestPairsWithoutAValue: such pairs do not make a metric pass, and do not hide a failure.
func TestPairsWithoutAValue(t *testing.T) {
	gap := []float64{math.NaN(), math.NaN()}
	fine, far := append(around(0, 0.02, 12), gap...), append(around(0.3, 0.02, 12), gap...)
	got := Sequence([]Series{series(Primary, fine), series(Primary, far)}, []int{13})
	if d := got[0]; d.Pairs != 12 || d.Outcome != Unclear || d.ToDecide <= MostPairs {
		t.Errorf("%+v", d)
	}
	if d := got[1]; d.Pairs != 12 || d.Outcome != Beyond {
		t.Errorf("%+v", d)
	}
	if overall := OverallOf([]Series{series(Primary, fine)}, got[:1]); overall != Unclear {
		t.Error(overall)
	}
	// The gap comes after the look that decided.
	if d := Sequence([]Series{series(Primary, fine)}, []int{12, 14})[0]; d.Outcome != Within || d.Look.Number != 1 {
		t.Errorf("%+v", d)
	}
	none := Sequence([]Series{series(Primary, nil)}, nil)[0]
	if none.Outcome != Unclear || none.Pairs != 0 || none.ToDecide != 8 || !math.IsNaN(none.Estimate) {
		t.Errorf("%+v", none)
	}
}

// TestNoGapPutsAMetricWithinItsBound: random series lose samples at random. A metric that was not within its bound stays
// so. A metric that lacks a sample of the deciding look does not come within its bound either.
func TestNoGapPutsAMetricWithinItsBound(t *testing.T) {
	lot := rand.New(rand.NewPCG(30, 4))
	within := 0
	for range 3000 {
		pairs := 6 + lot.IntN(14)
		all := make([]Series, 1+lot.IntN(4))
		for i := range all {
			samples := make([]float64, pairs)
			shift := 0.3 * (lot.Float64() - 0.5)
			for n := range samples {
				samples[n] = shift + 0.05*lot.NormFloat64()
			}
			all[i] = series(Primary, samples)
		}
		looks := [][]int{nil, {6, pairs}}[lot.IntN(2)]
		if pairs == 6 {
			looks = nil
		}
		before := Sequence(all, looks)
		of, at := lot.IntN(len(all)), lot.IntN(pairs)
		all[of].Samples[at] = math.NaN()
		after := Sequence(all, looks)
		for i, d := range after {
			if d.Outcome == Within && before[i].Outcome != Within {
				t.Fatalf("%d of %v came within: %+v, before %+v", i, all, d, before[i])
			}
		}
		if before[of].Outcome == Within {
			within++
		}
		if (looks == nil || at < 6) && after[of].Outcome == Within {
			t.Fatalf("it lacks sample %d: %+v", at, after[of])
		}
	}
	if within < 300 {
		t.Errorf("the law is of %d metrics that are within", within)
	}
}

func TestTellApart(t *testing.T) {
	of := func(bound float64, all ...[]float64) []Apart {
		var shifts []Shift
		for _, d := range all {
			shifts = append(shifts, Paired(d))
		}
		return TellApart(shifts, bound)
	}
	for name, c := range map[string]struct {
		d     []float64
		bound float64
		want  Side
	}{
		"B is worse":             {around(0.3, 0.05, 12), 0, A},
		"B is better":            {around(-0.3, 0.05, 12), 0, B},
		"equal":                  {around(0, 0.05, 12), 0, Neither},
		"less than the bound":    {around(0.03, 0.01, 12), 0.05, Neither},
		"too few, though so far": {around(0.3, 0.01, 8), 0, Neither},
		"one":                    {[]float64{0.3}, 0, Neither},
		"none":                   {nil, 0, Neither},
	} {
		if got := of(c.bound, c.d)[0]; got.Better != c.want || (got.ToTell == 0) != (c.want != Neither) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// The reported smallest number of pairs decides, one pair fewer does not.
	for _, comparisons := range []int{1, 6, 22} {
		fewest := FewestToTellApart(comparisons)
		for pairs, want := range map[int]Side{fewest: B, fewest - 1: Neither} {
			all := make([][]float64, comparisons)
			for i := range all {
				all[i] = around(0, 0.05, pairs)
			}
			all[0] = around(-0.3, 0.05, pairs)
			got := of(0, all...)[0]
			if got.Better != want || want == Neither && got.ToTell != fewest {
				t.Errorf("%d comparisons, %d pairs: %+v", comparisons, pairs, got)
			}
		}
	}
	far, near := of(0, around(0.2, 0.3, 12))[0], of(0, around(0.1, 0.3, 12))[0]
	if far.ToTell <= 12 || near.ToTell <= far.ToTell {
		t.Errorf("%d and %d", far.ToTell, near.ToTell)
	}
}

// One half to the power of 7; for 12 failures, at most 1 on one side: 13 of 4,096.
func TestMoreOften(t *testing.T) {
	for _, c := range []struct {
		a, b int
		want float64
	}{{0, 7, 1.0 / 128}, {1, 11, 13.0 / 4096}, {0, 0, 1}, {5, 0, 1}} {
		if got := MoreOften(c.a, c.b); !near(got, c.want) {
			t.Errorf("%d and %d: %g, want %g", c.a, c.b, got, c.want)
		}
	}
	if even, more := MoreOften(1000, 1000), MoreOften(1000, 1200); even < 0.5 || more > 1e-4 || !(more > 0) {
		t.Errorf("%g and %g", even, more)
	}
}
