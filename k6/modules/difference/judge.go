// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"errors"
	"fmt"
	"math"

	"windtunnel/k6/internal/difference"
)

// Asked are metrics that are judged together, so that the gate's errors are those of all of them.
type Asked struct {
	Metrics []Metric `json:"metrics"`
	// Looks are the numbers of pairs at which a comparison was looked at that runs until it knows; none where their number was
	// fixed before.
	Looks []int `json:"looks"`
}

// Metric is one of them. Target is how many times A's value B has to reach, or may reach where lower is better: 1 unless
// given. Bound is the share by which it may miss that, of shares the difference that is tolerated.
type Metric struct {
	Pairs
	Target *float64 `json:"target"`
	Bound  float64  `json:"bound"`
	Role   string   `json:"role"`
}

// Told is what is said of all metrics. FewestToMiss is the least number of pairs with which one of the primary metrics can be beyond
// its bound, at the first look if there are looks. With fewer pairs no primary metric is within its bound.
type Told struct {
	Outcome      difference.Outcome `json:"outcome"`
	Metrics      []Answer           `json:"metrics"`
	Looks        []Look             `json:"looks"`
	FewestToMiss int                `json:"fewest_to_miss"`
}

// Look is a look at so many pairs, and the confidence of one metric's interval at it, 0 to 1; pairs are null where all were
// looked at once.
type Look struct {
	Pairs      *int    `json:"pairs"`
	Confidence float64 `json:"confidence"`
}

// Answer is what is said of a metric, of so many pairs: those of the look that decided it, else all. P is two-sided and, like
// Significant, of a difference from A at all. ToDecide is about how many pairs in all, fixed before, would decide it; null
// where it is decided, and where no number would.
type Answer struct {
	Shown
	P           float64            `json:"p"`
	Significant bool               `json:"significant"`
	Outcome     difference.Outcome `json:"outcome"`
	Pairs       int                `json:"pairs"`
	Confidence  float64            `json:"confidence"`
	ToDecide    *int               `json:"to_decide"`
}

var roles = map[string]difference.Role{"primary": difference.Primary, "secondary": difference.Secondary, "shown": difference.Shown}

// Judge answers for all metrics together.
func Judge(asked Asked) (Told, error) {
	if err := checkLooks(asked.Looks); err != nil {
		return Told{}, err
	}
	all := make([]difference.Series, len(asked.Metrics))
	primary := 0
	for i, m := range asked.Metrics {
		if err := m.check(); err != nil {
			return Told{}, fmt.Errorf("metric %d: %w", i, err)
		}
		all[i] = difference.Series{Samples: m.samples(), Bound: m.bound(), Role: roles[m.Role]}
		for n := range all[i].Samples {
			all[i].Samples[n] += m.moved()
		}
		if all[i].Role == difference.Primary {
			primary++
		}
	}
	decisions := difference.Sequence(all, asked.Looks)
	told := Told{Metrics: []Answer{}, Looks: looksOf(asked.Looks), FewestToMiss: fewestToMiss(primary, len(asked.Looks) > 0),
		Outcome: difference.OverallOf(all, decisions)}
	for i, d := range decisions {
		told.Metrics = append(told.Metrics, asked.Metrics[i].answer(d))
	}
	return told, nil
}

// fewestToMiss is the least number of pairs with which one of so many primary metrics can be beyond its bound: at the first of several
// looks, or at the only one.
func fewestToMiss(metrics int, looks bool) int {
	look := difference.Look{}
	if looks {
		look.Number = 1
	}
	return look.FewestToBreak(difference.Primary, metrics)
}

func (m Metric) check() error {
	if err := m.Pairs.check(); err != nil {
		return err
	}
	if _, ok := roles[m.Role]; !ok {
		return fmt.Errorf("role %q: primary, secondary or shown is wanted", m.Role)
	}
	if m.Bound < 0 {
		return fmt.Errorf("bound %g: 0 or more is wanted", m.Bound)
	}
	if m.Target != nil && (!(*m.Target > 0) || m.Scale != "ratio") {
		return fmt.Errorf("target %g: a ratio above 0 is wanted", *m.Target)
	}
	return nil
}

// bound is in the scale of the samples.
func (m Metric) bound() float64 {
	if m.Scale == "share" {
		return 100 * m.Bound
	}
	return math.Log1p(m.Bound)
}

// moved is by how much worse than A's own a value of B looks beside the target.
func (m Metric) moved() float64 {
	if m.Target == nil {
		return 0
	}
	if m.higher() {
		return math.Log(*m.Target)
	}
	return -math.Log(*m.Target)
}

func (m Metric) answer(d difference.Decision) Answer {
	own := difference.Paired(valued(m.samples(), d.Pairs))
	p := own.P()
	a := Answer{Shown: m.shown(d.Answer, m.moved()), P: p, Significant: p < difference.Chance, Outcome: d.Outcome, Pairs: d.Pairs,
		Confidence: d.Look.Confidence()}
	if d.ToDecide > 0 && d.ToDecide <= difference.MostPairs {
		a.ToDecide = &d.ToDecide
	}
	return a
}

func checkLooks(looks []int) error {
	for i, pairs := range looks {
		if pairs < 1 || i > 0 && pairs <= looks[i-1] {
			return errors.New("looks: whole numbers of pairs above 0 are wanted, each greater than the one before")
		}
	}
	return nil
}

func looksOf(pairs []int) []Look {
	if len(pairs) == 0 {
		return []Look{{Confidence: difference.Look{}.Confidence()}}
	}
	all := make([]Look, len(pairs))
	for i := range pairs {
		all[i] = Look{Pairs: &pairs[i], Confidence: difference.Look{Number: i + 1}.Confidence()}
	}
	return all
}
