// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/aclements/go-moremath/stats"

	"windtunnel/k6/internal/compare"
)

// Group is the points of one scenario, profile, parameters and testbed, and a series for each of their metrics.
type Group struct {
	Points []Point
	Series []Series
}

// Series is one metric over time. At has the place in the group's points of each value. Withheld is how many changes Otava proposes
// that autocorrelation may explain.
type Series struct {
	Figure     compare.Figure // the last one
	At         []int
	Values     []float64
	Changes    []Change
	Creeps     []Creep
	Withheld   int
	Dependence Dependence
}

// Change is where a series changed for good: from the point at Index, of the series' values, on.
type Change struct {
	Index         int
	Before, After float64 // means
	P             float64
}

// Percent is by how much the mean changed.
func (c Change) Percent() float64 { return (c.After/c.Before - 1) * 100 }

// takeMeans sorts the changes and gives each the means of the values between its neighbours.
func (s *Series) takeMeans() {
	slices.SortFunc(s.Changes, func(a, b Change) int { return a.Index - b.Index })
	for i := range s.Changes {
		first, last := 0, len(s.Values)
		if i > 0 {
			first = s.Changes[i-1].Index
		}
		if i+1 < len(s.Changes) {
			last = s.Changes[i+1].Index
		}
		c := &s.Changes[i]
		c.Before, c.After = stats.Mean(s.Values[first:c.Index]), stats.Mean(s.Values[c.Index:last])
	}
}

// Better reports whether a change of the series is for the better.
func (s Series) Better(c Change) bool { return (c.After > c.Before) == s.Figure.Higher() }

// CreepsBetter reports it of a creep.
func (s Series) CreepsBetter(c Creep) bool { return (c.To > c.From) == s.Figure.Higher() }

// Groups are those of a history, in the order in which they began.
func (h History) Groups() []Group {
	var all []Group
	place := map[string]int{}
	for _, p := range h.Points {
		name := p.group()
		at, there := place[name]
		if !there {
			at = len(all)
			place[name] = at
			all = append(all, Group{})
		}
		all[at].Points = append(all[at].Points, p)
	}
	for i := range all {
		all[i].Series = seriesOf(all[i].Points)
	}
	return all
}

func seriesOf(points []Point) []Series {
	var all []Series
	place := map[[2]string]int{}
	for i, p := range points {
		for _, f := range p.Figures {
			key := [2]string{f.Operation, f.Name}
			at, there := place[key]
			if !there {
				at = len(all)
				place[key] = at
				all = append(all, Series{})
			}
			s := &all[at]
			s.Figure, s.At, s.Values = f, append(s.At, i), append(s.Values, f.Value)
		}
	}
	return all
}

// Last is the latest point.
func (g Group) Last() Point { return g.Points[len(g.Points)-1] }

// ID tells groups apart in exports and tags: 8 letters and digits.
func (g Group) ID() string {
	sum := sha256.Sum256([]byte(g.Last().group()))
	return fmt.Sprintf("%x", sum[:4])
}

// Between says what of the system came before a change of a series, and what with it.
func (g Group) Between(s Series, c Change) (before, after Point) {
	return g.Points[s.At[c.Index-1]], g.Points[s.At[c.Index]]
}
