// SPDX-License-Identifier: AGPL-3.0-only

package difference

import "math"

// Side is one of two that are compared.
type Side int

// The sides.
const (
	Neither Side = iota
	A
	B
)

// Apart is which of two sides is the better one, and by how much B is worse. ToTell is about how many pairs in all would tell,
// if the true shift is the estimate: 0 where a side is told, MostPairs+1 where it is more than MostPairs.
type Apart struct {
	Answer
	Better Side
	ToTell int
}

// TellApart tells of each shift which side is the better one: significantly, and by more than bound. Both directions of all
// shifts share one gate, so that of any number of equal sides none is told apart in 99.5 % of comparisons.
func TellApart(shifts []Shift, bound float64) []Apart {
	var metrics []Metric
	for _, s := range shifts {
		metrics = append(metrics, Metric{Shift: s, Bound: bound, Role: Primary}, Metric{Shift: s.Mirrored(), Bound: bound, Role: Primary})
	}
	answers, _ := Judge(metrics, nil, Look{})
	all := make([]Apart, len(shifts))
	level := Look{}.primaryGate() / float64(max(1, len(metrics)))
	for i := range all {
		there, back := answers[2*i], answers[2*i+1]
		all[i].Answer = there
		switch {
		case there.Outcome == Beyond:
			all[i].Better = A
		case back.Outcome == Beyond:
			all[i].Better = B
		case math.Abs(there.Estimate) <= bound:
			all[i].ToTell = MostPairs + 1
		default:
			worse := metrics[2*i].Shift
			if there.Estimate < 0 {
				worse = metrics[2*i+1].Shift
			}
			all[i].ToTell = worse.pairsToShow(level)
		}
	}
	return all
}

// FewestToTellApart is the least number of pairs with which one of so many comparisons can tell its sides apart.
func FewestToTellApart(comparisons int) int { return Look{}.FewestToBreak(Primary, 2*comparisons) }
