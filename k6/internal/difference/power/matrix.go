// SPDX-License-Identifier: AGPL-3.0-only

package power

import (
	"math"
	"math/rand/v2"

	"windtunnel/k6/internal/difference"
)

// Tolerance is how far a target of the matrix may be missed, as a fraction.
const Tolerance = 0.05

// Targets is the number of targets of each row.
const Targets = 4

// Matrix simulates a comparison of the protocol matrix. Its rows have four targets each, which are judged together. The
// noise of throughput, round trip, memory and first reply is CV, CV/2, CV/5 and CV.
type Matrix struct {
	Noise  Noise
	CV     float64
	Rows   int
	Slower float64 // how far the first row's throughput misses its target, as a fraction
	// Default uses the targets of `make protocols-compare`: equal sides then meet the targets of throughput, round trip
	// and first reply with a margin. Otherwise equal sides meet all targets exactly, so that noise alone decides.
	Default bool
	Looks   []int // turns at each look; a decided row gets no more turns
	Turns   int   // fixed number, without looks
}

var (
	targetNoise = []float64{1, 0.5, 0.2, 1}
	// ahead is the margin of equal sides to the default targets, which are 0.9, 1.2, 1 and 2.
	ahead = []float64{-math.Log(0.9), math.Log(1.2), 0, math.Log(2)}
)

// Answers counts the answers about the first row's throughput, and about the whole matrix.
type Answers struct {
	Runs int
	// Met and Missed count runs with that answer about the first row's throughput; the other runs cannot decide.
	Met, Missed int
	// Passed counts runs that met all targets, Failed runs that missed at least one.
	Passed, Failed int
	// Unclear counts undecided targets, over all runs.
	Unclear int
}

// Share is n divided by the number of runs, 0 to 1.
func (a Answers) Share(n int) float64 { return float64(n) / float64(a.Runs) }

// Count simulates the given number of runs; the same seed gives the same answer.
func (m Matrix) Count(runs int, seed uint64) Answers {
	all := Answers{Runs: runs}
	simulate(runs, seed, func(random *rand.Rand) (add func()) {
		series := m.draw(random)
		decisions := difference.Sequence(series, m.Looks)
		overall := difference.OverallOf(series, decisions)
		return func() { all.add(decisions, overall) }
	})
	return all
}

func (a *Answers) add(decisions []difference.Decision, overall difference.Outcome) {
	switch decisions[0].Outcome {
	case difference.Within:
		a.Met++
	case difference.Beyond:
		a.Missed++
	}
	switch overall {
	case difference.Within:
		a.Passed++
	case difference.Beyond:
		a.Failed++
	}
	for _, d := range decisions {
		if d.Outcome == difference.Unclear {
			a.Unclear++
		}
	}
}

// draw simulates the turns of all rows; the first side of each turn is random.
func (m Matrix) draw(random *rand.Rand) []difference.Series {
	turns := m.Turns
	if len(m.Looks) > 0 {
		turns = m.Looks[len(m.Looks)-1]
	}
	var all []difference.Series
	for row := range m.Rows {
		machine, lot := newMachine(random, m.Noise, m.CV, 2*turns), random.Uint64()
		samples := make([][]float64, len(targetNoise))
		for turn := range turns {
			a, b := machine.pair(turn+1, lot)
			for i, noisy := range targetNoise {
				samples[i] = append(samples[i], noisy*(b-a+machine.draw()-machine.draw()))
			}
		}
		for i := range samples {
			for turn := range samples[i] {
				switch {
				case row == 0 && i == 0 && m.Slower != 0:
					samples[i][turn] += math.Log1p(m.Slower)
				case m.Default:
					samples[i][turn] -= ahead[i]
				}
			}
			all = append(all, difference.Series{Samples: samples[i], Bound: math.Log1p(Tolerance), Role: difference.Primary})
		}
	}
	return all
}
