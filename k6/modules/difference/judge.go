// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"errors"
	"fmt"
	"math"

	"windtunnel/k6/internal/difference"
)

// Asked are metrics that are judged together, so that the gate's error probability holds for all of them.
type Asked struct {
	Metrics []Metric `json:"metrics"`
	// Looks are the numbers of pairs at the looks of a comparison that runs until it knows; empty if the number of pairs
	// was fixed.
	Looks []int `json:"looks"`
}

// Metric is one metric. Target is the multiple of A's value that B must reach, or may reach if lower is better: default
// 1. Bound is the relative loss that is tolerated below the target; for shares, the absolute difference.
type Metric struct {
	Pairs
	Target *float64 `json:"target"`
	Bound  float64  `json:"bound"`
	Role   string   `json:"role"`
}

// Told is the answer for all metrics. FewestToMiss is the smallest number of pairs with which a primary metric can be
// beyond its bound, at the first look if there are looks. With fewer pairs no primary metric is within its bound.
type Told struct {
	Outcome      difference.Outcome `json:"outcome"`
	Metrics      []Answer           `json:"metrics"`
	Looks        []Look             `json:"looks"`
	FewestToMiss int                `json:"fewest_to_miss"`
}

// Look is a number of pairs, and the confidence of one metric's interval at this look, 0 to 1. pairs is null if all
// pairs were looked at once.
type Look struct {
	Pairs      *int    `json:"pairs"`
	Confidence float64 `json:"confidence"`
}

// Answer is the judgement of a metric, with its number of pairs: those at the look that decided, or all. P is two-sided.
// P and Significant are about any difference from A. ToDecide estimates the total number of pairs, fixed in advance,
// that would decide; null if it is decided, or if no number would.
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
	answers := Told{Metrics: []Answer{}, Looks: looksOf(asked.Looks), FewestToMiss: fewestToMiss(primary, len(asked.Looks) > 0),
		Outcome: difference.OverallOf(all, decisions)}
	for i, d := range decisions {
		answers.Metrics = append(answers.Metrics, asked.Metrics[i].answer(d))
	}
	return answers, nil
}

// fewestToMiss is the smallest number of pairs with which one of the given number of primary metrics can be beyond its
// bound, at the first of several looks or at the only one.
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

// bound is on the scale of the samples.
func (m Metric) bound() float64 {
	if m.Scale == "share" {
		return 100 * m.Bound
	}
	return math.Log1p(m.Bound)
}

// moved is how much worse than A's value a B exactly at the target is.
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
	a := Answer{Shown: m.change(d.Answer, m.moved()), P: p, Significant: p < difference.Chance, Outcome: d.Outcome, Pairs: d.Pairs,
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
