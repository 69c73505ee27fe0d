// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var tenPercent = math.Log(1.1)

// around returns n samples, evenly spread around the middle.
func around(middle, spread float64, n int) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = middle + spread*(2*float64((i*7)%n)/float64(n-1)-1)
	}
	return d
}

func primary(d []float64) Metric { return Metric{Shift: Paired(d), Bound: tenPercent, Role: Primary} }
func secondary(d []float64) Metric {
	return Metric{Shift: Paired(d), Bound: tenPercent, Role: Secondary}
}

// cautious has further pairs, which were excluded from the first ones.
func cautious(d, all []float64) Metric {
	m := primary(d)
	m.Cautious = Paired(all)
	return m
}

func TestThreeOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		of   []Metric
		want Outcome
	}{
		"equal":                            {[]Metric{primary(around(0, 0.03, 12))}, Within},
		"better":                           {[]Metric{primary(around(-0.3, 0.03, 12))}, Within},
		"worse, but less than the bound":   {[]Metric{primary(around(0.05, 0.02, 12))}, Within},
		"beyond":                           {[]Metric{primary(around(0.2, 0.03, 12))}, Beyond},
		"noise":                            {[]Metric{primary(around(0, 0.3, 12))}, Unclear},
		"beyond, too few pairs to be sure": {[]Metric{primary(around(0.2, 0.03, 6))}, Unclear},
		"at the bound":                     {[]Metric{primary(around(tenPercent, 0.02, 13))}, Unclear},
		"nothing but the bound":            {[]Metric{primary(slices.Repeat([]float64{tenPercent}, 13))}, Unclear},
		"within, were it not for some":     {[]Metric{cautious(around(0, 0.03, 12), around(0.2, 0.03, 14))}, Unclear},
		"within with all that there is":    {[]Metric{cautious(around(0, 0.03, 12), around(0.01, 0.03, 14))}, Within},
		"one of two unclear":               {[]Metric{primary(around(0, 0.03, 12)), primary(around(0, 0.3, 12))}, Unclear},
		"one of two beyond":                {[]Metric{primary(around(0, 0.3, 12)), primary(around(0.3, 0.03, 12))}, Beyond},
		"secondary unclear":                {[]Metric{primary(around(0, 0.03, 12)), secondary(around(0, 0.5, 12))}, Within},
		"secondary beyond":                 {[]Metric{primary(around(0, 0.03, 12)), secondary(around(0.5, 0.05, 12))}, Beyond},
		"shown beyond":                     {[]Metric{primary(around(0, 0.03, 12)), {Shift: Paired(around(0.5, 0.05, 12)), Bound: tenPercent, Role: Shown}}, Within},
		"no primary":                       {[]Metric{secondary(around(0, 0.03, 12))}, Unclear},
		"nothing":                          {nil, Unclear},
	} {
		answers, breaks := Judge(c.of, nil, Look{})
		if got := Overall(c.of, answers, breaks); got != c.want {
			t.Errorf("%s: %s, want %s: %+v", name, got, c.want, answers)
		}
	}
}

// TestMoreMetricsTakeMoreEvidence has one secondary metric of many that is worse in each pair. With 49 operations of
// four metrics each, 16 pairs reach the level for one metric.
func TestMoreMetricsTakeMoreEvidence(t *testing.T) {
	of := func(pairs, others int) Outcome {
		all := []Metric{primary(around(0, 0.02, pairs)), secondary(around(0.5, 0.05, pairs))}
		for range others {
			all = append(all, secondary(around(0, 0.05, pairs)))
		}
		answers, breaks := Judge(all, nil, Look{})
		return Overall(all, answers, breaks)
	}
	for _, c := range []struct {
		pairs, others int
		want          Outcome
	}{{8, 0, Beyond}, {8, 5, Within}, {12, 5, Beyond}, {12, 195, Within}, {15, 195, Within}, {16, 195, Beyond}} {
		if got := of(c.pairs, c.others); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
		if reached := c.pairs >= (Look{}).FewestToBreak(Primary, c.others+1); reached != (c.want == Beyond) {
			t.Errorf("%+v: it is said to take %d", c, Look{}.FewestToBreak(Primary, c.others+1))
		}
	}
}

func TestFailuresBreakTheGate(t *testing.T) {
	fine := []Metric{primary(around(0, 0.02, 10))}
	for p, want := range map[float64]Outcome{1.0 / 2048: Beyond, 0.02: Within} {
		answers, breaks := Judge(fine, []float64{p}, Look{})
		if got := Overall(fine, answers, breaks); got != want {
			t.Errorf("%g: %s", p, got)
		}
	}
}

// TestMirroredAnswers: with swapped sides, each answer is reversed.
func TestMirroredAnswers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var there, back []Metric
		n := 6 + r.IntN(20)
		for range 1 + r.IntN(5) {
			d := samples(r, n)
			there, back = append(there, primary(d)), append(back, primary(negated(d)))
		}
		one, _ := Judge(there, nil, Look{})
		other, _ := Judge(back, nil, Look{})
		for i := range one {
			if one[i].Estimate != -other[i].Estimate || *one[i].Lo != -*other[i].Hi || *one[i].Hi != -*other[i].Lo ||
				one[i].P != other[i].P || one[i].Significant != other[i].Significant {
				t.Fatalf("%+v and %+v", one[i], other[i])
			}
			if one[i].Outcome == Beyond && other[i].Outcome != Within {
				t.Fatalf("beyond, and swapped %s", other[i].Outcome)
			}
		}
	}
}

// TestLooksShareTheErrors: all looks together do not exceed the error probability.
func TestLooksShareTheErrors(t *testing.T) {
	var intervals, gate float64
	for k := 1; k <= 10000; k++ {
		intervals += Look{Number: k}.within()
		gate += Look{Number: k, Comparisons: 3}.gate() * 3
	}
	if intervals > missed || gate > broken || intervals < 0.99*missed {
		t.Errorf("%g and %g", intervals, gate)
	}
	if c := (Look{}).Confidence(); !near(c, 0.96) {
		t.Error(c)
	}
	for pairs, want := range map[int][2]int{0: {12, 0}, 5: {12, 1}, 12: {18, 1}, 13: {18, 2}, 17: {18, 2}, 18: {26, 2}, MostPairs: {MostPairs, len(looks)}} {
		if Next(pairs) != want[0] || Looked(pairs) != want[1] {
			t.Errorf("%d: next %d, looked %d, want %v", pairs, Next(pairs), Looked(pairs), want)
		}
	}
}

// TestMute has metrics that are as bad as possible in each pair: they are mute with too few pairs, and break the gate
// with one more pair.
func TestMute(t *testing.T) {
	for _, c := range []struct {
		role            Role
		metrics, enough int
		look            Look
	}{
		{Primary, 2, 10, Look{Failures: true}},
		{Primary, 2, 9, Look{}},
		{Primary, 2, 11, Look{Number: 1, Failures: true}},
		{Secondary, 6, 11, Look{Failures: true}},
		{Secondary, 97, 15, Look{Failures: true}},
		{Shown, 3, 1, Look{}},
	} {
		for pairs := max(1, c.enough-1); pairs <= c.enough; pairs++ {
			var metrics []Metric
			for range c.metrics {
				metrics = append(metrics, Metric{Shift: Paired(around(5, 0.1, pairs+1)[:pairs]), Bound: tenPercent, Role: c.role})
			}
			want := 0
			if pairs < c.enough {
				want = c.metrics
			}
			answers, _ := Judge(metrics, nil, c.look)
			broken := answers[0].Outcome == Beyond
			if got := len(Mute(metrics, c.look)); got != want || c.role != Shown && broken != (want == 0) {
				t.Errorf("%+v with %d pairs: %d are mute, want %d, and the first is %s", c, pairs, got, want, answers[0].Outcome)
			}
		}
	}
}

func TestPairsToDecide(t *testing.T) {
	pairs := func(middle, noise float64, tests int) (int, Outcome) {
		m := primary(around(middle, noise, 12))
		answers, _ := Judge([]Metric{m}, nil, Look{})
		return PairsToDecide(m, answers[0], Look{}, tests), answers[0].Outcome
	}
	of := func(middle float64) (int, Outcome) { return pairs(middle, 0.3, 1) }
	equal, outcome := of(0)
	near, _ := of(0.05)
	slow, _ := of(0.2)
	if outcome != Unclear || equal <= 12 || equal > 60 || near <= equal || slow <= 12 || slow > 60 {
		t.Errorf("%d, %d, %d, %s", equal, near, slow, outcome)
	}
	if at, _ := of(tenPercent); at != MostPairs+1 {
		t.Errorf("at the bound %d", at)
	}
	// An interval shrinks with the square root of the pairs.
	if half, _ := pairs(0.05, 0.15, 1); half <= 13 || near < 4*(half-1) || near > 4*half {
		t.Errorf("with half of the noise %d, with all of it %d", half, near)
	}
	if many, _ := pairs(0.2, 0.3, 20); many <= slow {
		t.Errorf("one of 20 metrics %d, one alone %d", many, slow)
	}
	// Six pairs cannot break the gate, however much worse B is: eight can.
	six := primary(around(1, 0.1, 6))
	sure, _ := Judge([]Metric{six}, nil, Look{})
	if got := PairsToDecide(six, sure[0], Look{}, 1); got != 8 {
		t.Errorf("six: %d", got)
	}
	few := primary(around(0, 0.1, 3))
	answers, _ := Judge([]Metric{few}, nil, Look{})
	if got := PairsToDecide(few, answers[0], Look{}, 1); got != 0 {
		t.Error(got)
	}
}

// TestHolmStepsDown uses levels of 0.05 for four tests: 0.0125, 0.01667, 0.025 and 0.05, in the order of the p-values.
func TestHolmStepsDown(t *testing.T) {
	for _, c := range []struct{ p, found []float64 }{
		{[]float64{0.04, 0.0155, 0.03, 0.005}, []float64{0.005, 0.0155}},
		{[]float64{0.0125, 0.5, 0.5, 0.5}, []float64{0.0125}},
		{[]float64{0.013, 0.013, 0.013, 0.013}, nil},
		{[]float64{0.04, 0.02, 0.015, 0.01}, []float64{0.01, 0.015, 0.02, 0.04}},
	} {
		var all []tested
		for i, p := range c.p {
			all = append(all, tested{p, i})
		}
		var found []float64
		for _, i := range holm(all, 0.05, len(all)) {
			found = append(found, c.p[i])
		}
		if !slices.Equal(found, c.found) {
			t.Errorf("of %v: %v, want %v", c.p, found, c.found)
		}
	}
}
