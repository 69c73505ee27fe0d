// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/aclements/go-moremath/stats"

	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/seq"
)

// Group has the points of one scenario, profile, parameters and testbed, and a series for each of their metrics.
type Group struct {
	Points []Point
	Series []Series
}

// Series is one metric over time. At has, for each value, the index of its point in the group. Withheld is the number of
// Otava's proposed changes that autocorrelation may explain.
type Series struct {
	Figure     compare.Figure // latest one
	At         []int
	Values     []float64
	Changes    []Change
	Creeps     []Creep
	Withheld   int
	Dependence Dependence
}

// Change is a lasting change of a series, from the value at Index on.
type Change struct {
	Index         int
	Before, After float64 // means
	P             float64
}

// Percent is the change of the mean in percent.
func (c Change) Percent() float64 { return (c.After/c.Before - 1) * 100 }

// takeMeans sorts the changes and sets the means before and after each, up to the neighbouring changes.
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

// CreepsBetter reports whether a creep is for the better.
func (s Series) CreepsBetter(c Creep) bool { return (c.To > c.From) == s.Figure.Higher() }

// Groups returns the groups of a history, in the order of their first points.
func (h History) Groups() []Group {
	return seq.Map(seq.Group(h.Points, Point.group), func(points []Point) Group { return Group{points, seriesOf(points)} })
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

// ID identifies a group in exports and tags: 8 letters and digits.
func (g Group) ID() string {
	sum := sha256.Sum256([]byte(g.Last().group()))
	return fmt.Sprintf("%x", sum[:4])
}

// Between returns the last point before a change of a series, and the first point after it.
func (g Group) Between(s Series, c Change) (before, after Point) {
	return g.Points[s.At[c.Index-1]], g.Points[s.At[c.Index]]
}
