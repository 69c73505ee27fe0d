// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"windtunnel/k6/internal/seq"
)

// rateSeries is the number of series of each kind. docs/benchmarks.md has the table.
var rateSeed = flag.Uint64("rates-seed", 0, "seed of the series that -rates draws")
var rateSeries = flag.Int("rates", 20, "series of each kind in which the error rates of the trend are counted")

// shape is a kind of series: noise with standard deviation 1, plus a signal in standard deviations.
type shape struct {
	name   string
	points int
	lag1   float64
	heavy  bool
	level  func(at, points int) float64
	// bounds of the shares
	mostChanged, mostCrept, leastFound, leastCrept float64
}

func flat(int, int) float64 { return 0 }

func stepOf(size float64) func(at, points int) float64 {
	return func(at, points int) float64 {
		if at < points*7/12 {
			return 0
		}
		return size
	}
}

func creepOf(size float64) func(at, points int) float64 {
	return func(at, points int) float64 { return size * float64(at) / float64(points-1) }
}

func (s shape) draw(random *rand.Rand) []float64 {
	values := make([]float64, s.points)
	drawFlat(random, s.lag1, values)
	for i := range values {
		values[i] *= math.Sqrt(1 - s.lag1*s.lag1)
		if s.heavy {
			values[i] = 2*math.Exp(0.5*values[i]) - 2
		}
		values[i] = 100 + 2*(values[i]+s.level(i, s.points))
	}
	return values
}

// counts counts series: with a change, with a creep, with a change near the step, and with withheld changes.
type counts struct{ changed, crept, found, withheld int }

// group has series of the shape.
func (s shape) group(series int) Group {
	random := rand.New(rand.NewPCG(uint64(s.points), uint64(1000*s.lag1)+1e6**rateSeed))
	names := make([]string, series)
	drawn := make([][]float64, series)
	for i := range drawn {
		names[i], drawn[i] = fmt.Sprintf("m%04d", i), s.draw(random)
	}
	return History{Points: made(s.points, names, func(metric, point int) float64 { return drawn[metric][point] })}.Groups()[0]
}

// count counts the series of a group in which changes were looked for.
func (s shape) count(g Group) (c counts) {
	for _, one := range g.Series {
		if len(one.Changes) > 0 {
			c.changed++
		}
		if len(one.Creeps) > 0 {
			c.crept++
		}
		for _, change := range one.Changes {
			if at := s.points * 7 / 12; change.Index >= at-5 && change.Index <= at+5 {
				c.found++
				break
			}
		}
		if one.Withheld > 0 {
			c.withheld++
		}
	}
	return c
}

// The error rates for flat series, steps and creeps: the table of docs/benchmarks.md.
func TestErrorRates(t *testing.T) {
	if os.Getenv("TEST_FULL") == "" {
		t.Skip("make test-all counts the error rates, or TEST_FULL=1")
	}
	needOtava(t)
	t.Log("| Series | Points | Autocorrelation | a change is told | near the step | a creep is told | Otava's changes are withheld |")
	t.Log("|---|---:|---:|---:|---:|---:|---:|")
	shapes := []shape{
		{"flat", 20, 0, false, flat, 0.05, 0.06, 0, 0},
		{"flat", 60, 0, false, flat, 0.05, 0.06, 0, 0},
		{"flat, log-normal noise", 60, 0, true, flat, 0.05, 0.06, 0, 0},
		{"flat", 60, 0.3, false, flat, 0.05, 0.06, 0, 0},
		{"flat", 60, 0.5, false, flat, 0.05, 0.06, 0, 0},
		{"flat", 20, 0.7, false, flat, 0.05, 0.06, 0, 0},
		{"flat", 60, 0.7, false, flat, 0.05, 0.06, 0, 0},
		{"flat", 200, 0.7, false, flat, 0.05, 0.06, 0, 0},
		{"flat", 60, 0.9, false, flat, 0.07, 0.05, 0, 0},
		{"step of 2.5", 60, 0, false, stepOf(2.5), 1, 0.1, 0.9, 0},
		{"step of 2.5", 60, 0.3, false, stepOf(2.5), 1, 0.25, 0.55, 0},
		{"step of 2.5", 60, 0.5, false, stepOf(2.5), 1, 0.15, 0.2, 0},
		{"step of 5", 60, 0.7, false, stepOf(5), 1, 0.15, 0.7, 0},
		{"step of 5", 12, 0, false, stepOf(5), 1, 0.05, 0.2, 0},
		{"creep of 3", 60, 0, false, creepOf(3), 0.15, 1, 0, 0.85},
		{"creep of 5", 60, 0, false, creepOf(5), 0.15, 1, 0, 0.85},
		{"creep of 5", 60, 0.5, false, creepOf(5), 0.2, 1, 0, 0.7},
	}
	groups := seq.Map(shapes, func(s shape) Group { return s.group(*rateSeries) })
	// One Otava looks at all: it takes longer to start than to look at twenty series.
	if err := Detect(program, groups); err != nil {
		t.Fatal(err)
	}
	for i, s := range shapes {
		c := s.count(groups[i])
		share := func(n int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(*rateSeries)) }
		t.Logf("| %s | %d | %g | %s | %s | %s | %s |", s.name, s.points, s.lag1, share(c.changed), share(c.found), share(c.crept), share(c.withheld))
		of := float64(*rateSeries)
		if float64(c.changed) > s.mostChanged*of || float64(c.crept) > s.mostCrept*of || float64(c.found) < s.leastFound*of || float64(c.crept) < s.leastCrept*of {
			t.Errorf("%s of %d points, autocorrelation %g: %+v of %d", s.name, s.points, s.lag1, c, *rateSeries)
		}
	}
}
