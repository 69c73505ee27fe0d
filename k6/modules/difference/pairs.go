// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"fmt"
	"math"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/seq"
)

// Pairs are the values of two sides in turns, A and the other side; null for a missing value. Values are compared by
// their ratio, or by their difference if Scale is "share" (0 to 1). Better is "higher" or "lower".
type Pairs struct {
	Pairs  [][2]*float64 `json:"pairs"`
	Scale  string        `json:"scale"`
	Better string        `json:"better"`
}

// Shown is the difference from A to B: a ratio, or percentage points for shares. Low and High are an interval, nil with
// too few pairs; Estimate is nil without pairs.
type Shown struct {
	Estimate *float64 `json:"estimate"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
}

func (p Pairs) check() error {
	if p.Scale != "ratio" && p.Scale != "share" {
		return fmt.Errorf("scale %q: ratio or share is wanted", p.Scale)
	}
	if p.Better != "higher" && p.Better != "lower" {
		return fmt.Errorf("better %q: higher or lower is wanted", p.Better)
	}
	return nil
}

func (p Pairs) higher() bool { return p.Better == "higher" }

// samples are how much worse B is in each pair, NaN for a missing value.
func (p Pairs) samples() []float64 {
	all := make([]float64, len(p.Pairs))
	for i, pair := range p.Pairs {
		a, b := pair[0], pair[1]
		switch {
		case a == nil || b == nil:
			all[i] = math.NaN()
		case p.Scale == "share":
			all[i] = difference.Points(*a, *b, p.higher())
		default:
			all[i] = difference.LogRatio(*a, *b, p.higher())
		}
	}
	return all
}

// valued returns the existing samples among the first `most`.
func valued(samples []float64, most int) []float64 {
	all := seq.Filter(samples, func(v float64) bool { return !math.IsNaN(v) })
	return all[:min(len(all), most)]
}

// change converts an answer's shifts, moved back from the target, to ratios or percentage points.
func (p Pairs) change(a difference.Answer, moved float64) Shown {
	of := func(shift float64) *float64 {
		shift -= moved
		if p.higher() {
			shift = -shift
		}
		if p.Scale == "ratio" {
			shift = math.Exp(shift)
		}
		return &shift
	}
	if math.IsNaN(a.Estimate) {
		return Shown{}
	}
	s := Shown{Estimate: of(a.Estimate)}
	if a.Lo != nil {
		s.Low, s.High = of(*a.Lo), of(*a.Hi)
		if p.higher() {
			s.Low, s.High = s.High, s.Low
		}
	}
	return s
}
