// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"fmt"
	"math"

	"windtunnel/k6/internal/difference"
)

// Pairs are what two sides that took turns measured, A first and the other beside it; null where a side has no value. Values
// are compared by their ratio, those of Scale "share" (0 to 1) by their difference. Better is "higher" or "lower".
type Pairs struct {
	Pairs  [][2]*float64 `json:"pairs"`
	Scale  string        `json:"scale"`
	Better string        `json:"better"`
}

// Shown is by how much B differs from A: as a ratio of A, of shares in percentage points. Low and High are an interval, nil
// where the pairs are too few for it; Estimate is nil without a pair.
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

// samples are by how much B is worse in each pair, NaN where a side has no value.
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

// valued are the samples that there are, the first most of them.
func valued(samples []float64, most int) []float64 {
	var all []float64
	for _, v := range samples {
		if !math.IsNaN(v) && len(all) < most {
			all = append(all, v)
		}
	}
	return all
}

// shown writes an answer's shifts, by as much worse as moved says, as people read them.
func (p Pairs) shown(a difference.Answer, moved float64) Shown {
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
