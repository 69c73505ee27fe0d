// SPDX-License-Identifier: AGPL-3.0-only

package difference

import "math"

// Side is one of the two compared sides.
type Side int

// The sides.
const (
	Neither Side = iota
	A
	B
)

// Apart is the better one of two sides, and how much worse B is. ToTell estimates the total number of pairs that would
// show the better side, if the true shift is the estimate. It is 0 if the better side is known, and MostPairs+1 for more
// than MostPairs.
type Apart struct {
	Answer
	Better Side
	ToTell int
}

// TellApart finds for each shift the better side: by more than bound, and significantly. Both directions of all shifts
// share one gate. So in 99.5 % of comparisons, no pair of equal sides is called different, whatever the number of pairs
// of sides.
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

// FewestToTellApart is the smallest number of pairs with which one of the given number of comparisons can find a better
// side.
func FewestToTellApart(comparisons int) int { return Look{}.FewestToBreak(Primary, 2*comparisons) }
