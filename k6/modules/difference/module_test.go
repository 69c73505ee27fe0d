// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/modules"
)

type vu struct {
	modules.VU
	rt *sobek.Runtime
}

func (v vu) Runtime() *sobek.Runtime { return v.rt }

// script runs a script with the module's exports as globals, and returns its value as JSON.
func script(t *testing.T, text string) (string, error) {
	t.Helper()
	rt := sobek.New()
	for name, value := range exports(vu{rt: rt}) {
		if err := rt.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	value, err := rt.RunString("JSON.stringify((() => {" + text + "})())")
	if err != nil {
		return "", err
	}
	return value.String(), nil
}

func ask[T any](t *testing.T, text string) T {
	t.Helper()
	var answers T
	answer, err := script(t, text)
	if err == nil {
		err = json.Unmarshal([]byte(answer), &answers)
	}
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// pairs makes pairs in which B is about factor times A.
const pairs = `const pairs = (factor, count) => Array.from({ length: count }, (_, i) => [100, 100 * factor * (1 + 0.001 * (i % 5 - 2))]);
const metric = (factor, count, more) => ({ pairs: pairs(factor, count), scale: 'ratio', better: 'lower', bound: 0.05, role: 'primary', ...more });
`

func near(a *float64, want float64) bool {
	return a != nil && *a > want-0.005 && *a < want+0.005
}

// TestTargets: if higher is better, 0.92 of A meets the target 0.9, and 0.8 misses it. If lower is better, 1.2 of A is
// allowed, and 1.3 is beyond the target and the bound.
func TestTargets(t *testing.T) {
	for _, c := range []struct {
		metric string
		want   string
		ratio  float64
	}{
		{`metric(0.92, 12, { better: 'higher', target: 0.9 })`, "within", 0.92},
		{`metric(0.87, 12, { better: 'higher', target: 0.9 })`, "within", 0.87},
		{`metric(0.8, 12, { better: 'higher', target: 0.9 })`, "beyond", 0.8},
		{`metric(1.22, 12, { target: 1.2 })`, "within", 1.22},
		{`metric(1.3, 12, { target: 1.2 })`, "beyond", 1.3},
		{`metric(1.02, 12)`, "within", 1.02},
		{`metric(1.3, 12)`, "beyond", 1.3},
		{`metric(1.3, 7)`, "unclear", 1.3},
		{`metric(1.3, 12, { role: 'shown' })`, "unclear", 1.3},
	} {
		answers := ask[Told](t, pairs+"return judge({ metrics: ["+c.metric+"] })")
		m := answers.Metrics[0]
		if string(m.Outcome) != c.want || !near(m.Estimate, c.ratio) || !near(m.Low, c.ratio) || !near(m.High, c.ratio) || *m.Low >= *m.High {
			t.Errorf("%s: %s, %v, want %s", c.metric, m.Outcome, *m.Estimate, c.want)
		}
		if (string(m.Outcome) != string(answers.Outcome)) && !strings.Contains(c.metric, "shown") {
			t.Errorf("%s: all together %s", c.metric, answers.Outcome)
		}
		if !m.Significant || m.P > 0.02 || m.Confidence != 0.96 {
			t.Errorf("%s: %+v", c.metric, m)
		}
	}
	// The difference from A is significant, not the difference from the target.
	same := ask[Told](t, pairs+"return judge({ metrics: [metric(1, 12, { better: 'higher', target: 0.5 })] })").Metrics[0]
	if same.Significant || same.P < 0.3 || same.Outcome != "within" {
		t.Errorf("%+v", same)
	}
}

func TestLooksAndGaps(t *testing.T) {
	answers := ask[Told](t, pairs+`const gaps = metric(1.3, 20);
gaps.pairs[3] = [null, 100]; gaps.pairs[4] = [100, undefined];
const equal = metric(1, 20);
equal.pairs[3] = [null, 100];
return judge({ metrics: [metric(1, 20), gaps, { ...metric(1, 3), pairs: [] }, equal], looks: [12, 18] })`)
	fine, gone, none := answers.Metrics[0], answers.Metrics[1], answers.Metrics[2]
	if m := answers.Metrics[3]; m.Outcome != "unclear" || m.ToDecide != nil {
		t.Errorf("equal, but for a pair that has no value: %+v", m)
	}
	if fine.Outcome != "within" || fine.Pairs != 12 || fine.Confidence != 0.98 {
		t.Errorf("%+v", fine)
	}
	if gone.Outcome != "beyond" || gone.Pairs != 16 || gone.Confidence < 0.99 {
		t.Errorf("%+v", gone)
	}
	if none.Outcome != "unclear" || none.Estimate != nil || *none.ToDecide != 10 || answers.FewestToMiss != 11 || len(answers.Looks) != 2 || *answers.Looks[1].Pairs != 18 {
		t.Errorf("%+v, %+v", none, answers)
	}
}

func TestTellApart(t *testing.T) {
	found := ask[Found](t, pairs+`return tellApart({ comparisons: [
	{ pairs: pairs(2, 12), scale: 'ratio', better: 'higher' }, { pairs: pairs(2, 12), scale: 'ratio', better: 'lower' },
	{ pairs: pairs(1, 12), scale: 'ratio', better: 'lower' },
	{ pairs: Array.from({ length: 12 }, (_, i) => [0.1, 0.001 * i]), scale: 'share', better: 'lower' }] })`)
	for i, want := range []string{"b", "a", "", "b"} {
		s := found.Comparisons[i]
		if got := s.Better; want == "" && got != nil || want != "" && (got == nil || *got != want) {
			t.Errorf("%d: %+v, want %s", i, s, want)
		}
	}
	if s := found.Comparisons[3]; *s.Estimate > -9 || *s.Estimate < -10 || *s.Low > *s.High {
		t.Errorf("points: %v", *s.Estimate)
	}
	if found.FewestPairs != 11 || found.Confidence != 0.96 {
		t.Errorf("%+v", found)
	}
	gap := ask[Found](t, pairs+`const gap = pairs(2, 13);
gap[3] = [100, null];
return tellApart({ comparisons: [{ pairs: gap, scale: 'ratio', better: 'higher' }] })`).Comparisons[0]
	if gap.Better != nil || gap.Pairs != 0 || gap.Estimate != nil {
		t.Errorf("a pair without a value: %+v", gap)
	}
}

func TestSmallOnes(t *testing.T) {
	if got, err := script(t, "return [nextLook(0), nextLook(12), mostMinutes('quick'), moreOften(0, 7).toFixed(9)]"); err != nil || got != `[12,18,10,"0.007812500"]` {
		t.Errorf("%s, %v", got, err)
	}
}

// TestOrderByLot: of four values, each comes before each other one in about half of the rounds, and the same name gives
// the same order.
func TestOrderByLot(t *testing.T) {
	got := ask[[][]int](t, "return Array.from({ length: 400 }, (_, round) => order(4, round + 1, 'a-run'))")
	again := ask[[]int](t, "return order(4, 400, 'a-run')")
	if !slices.Equal(got[399], again) {
		t.Errorf("%v and %v", got[399], again)
	}
	for i := range 4 {
		for j := range i {
			before := 0
			for _, order := range got {
				if slices.Index(order, i) < slices.Index(order, j) {
					before++
				}
			}
			if before < 150 || before > 250 {
				t.Errorf("%d is before %d in %d of 400", i, j, before)
			}
		}
	}
}

// TestNonsenseIsAnException: a typing error in a script must not become an answer.
func TestNonsenseIsAnException(t *testing.T) {
	for want, call := range map[string]string{
		"unknown field":         "judge({ metrics: [], look: [3] })",
		"NaN":                   "judge({ metrics: [metric(NaN, 8)] })",
		"scale \"log\"":         "judge({ metrics: [metric(1, 8, { scale: 'log' })] })",
		"better \"more\"":       "tellApart({ comparisons: [{ pairs: [], scale: 'ratio', better: 'more' }] })",
		"role \"\"":             "judge({ metrics: [metric(1, 8, { role: undefined })] })",
		"bound -1":              "judge({ metrics: [metric(1, 8, { bound: -1 })] })",
		"target 0":              "judge({ metrics: [metric(1, 8, { target: 0 })] })",
		"each greater than the": "judge({ metrics: [], looks: [8, 8] })",
	} {
		if got, err := script(t, pairs+"return "+call); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v; want %s", call, got, err, want)
		}
	}
}
