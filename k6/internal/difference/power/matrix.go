// SPDX-License-Identifier: AGPL-3.0-only

package power

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"windtunnel/k6/internal/difference"
)

// Tolerance is what a target of the matrix may be missed by.
const Tolerance = 0.05

// Targets of each row.
const Targets = 4

// Matrix is a comparison of the protocol matrix: rows, each with four targets, which are judged together. Their noise is CV,
// half of it, a fifth, and all of it: throughput, round trip, memory, first reply.
type Matrix struct {
	Noise  Noise
	CV     float64
	Rows   int
	Slower float64 // what the first row's throughput misses its target by, as a fraction
	// Default are the targets of `make protocols-compare`: equal sides then meet those of throughput, round trip and first reply by far. Else
	// they meet all to the dot, so that it takes nothing but noise to miss one.
	Default bool
	Looks   []int // turns at each look; what is decided has no more of them
	Turns   int   // fixed, without looks
}

var (
	targetNoise = []float64{1, 0.5, 0.2, 1}
	// ahead is by how much equal sides are better than the default targets: 0.9, 1.2, 1 and 2.
	ahead = []float64{-math.Log(0.9), math.Log(1.2), 0, math.Log(2)}
)

// Answers are those of the first row's throughput, and of all runs of the matrix.
type Answers struct {
	Runs int
	// Met, Missed are runs that say so of the first row's throughput; the rest cannot tell.
	Met, Missed int
	// Passed met all targets, Failed missed one at least.
	Passed, Failed int
	// Unclear are the targets that no run could tell, of all runs together.
	Unclear int
}

// Share is n of the runs, 0 to 1.
func (a Answers) Share(n int) float64 { return float64(n) / float64(a.Runs) }

// Count simulates so many runs; the same seed gives the same answer.
func (m Matrix) Count(runs int, seed uint64) Answers {
	all := Answers{Runs: runs}
	var lock sync.Mutex
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < runs; i += workers {
				series := m.draw(rand.New(rand.NewPCG(seed, uint64(i))))
				decisions := difference.Sequence(series, m.Looks)
				lock.Lock()
				all.add(decisions, difference.OverallOf(series, decisions))
				lock.Unlock()
			}
		})
	}
	group.Wait()
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

// draw makes the turns of all rows: which side begins is by lot.
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
