// SPDX-License-Identifier: AGPL-3.0-only

// Package power counts the answers of the comparison engine for simulated programs: B is slower by a known factor, on a
// machine with known noise.
package power

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"windtunnel/k6/internal/difference"
)

// Bound is the tolerated loss of B in all cases, as a fraction.
const Bound = 0.10

// Case is a simulated case. Each operation has four metrics. The noise of throughput is CV, of P95 twice, of P99 three
// times, and of CPU per operation half of that. CPU stays the same if B is slower. The primary metrics are the geometric
// means of throughput and of CPU over all operations.
type Case struct {
	Noise      Noise
	CV         float64 // coefficient of variation of a run's throughput
	Operations int
	Slower     float64 // slowdown of B, as a fraction
	Pairs      int     // fixed number of pairs; 0 runs until it knows
	Most       int     // largest number of pairs, if it runs until it knows
}

// Counts counts the outcomes of a case's comparisons.
type Counts struct {
	Comparisons, Passed, Broken, Unclear int
	// Pairs is the sum of all pairs.
	Pairs int
}

// Count simulates the given number of comparisons; the same seed gives the same answer.
func (c Case) Count(comparisons int, seed uint64) Counts {
	all := Counts{Comparisons: comparisons}
	simulate(comparisons, seed, func(random *rand.Rand) (add func()) {
		outcome, pairs := c.compare(random)
		return func() {
			switch outcome {
			case difference.Within:
				all.Passed++
			case difference.Beyond:
				all.Broken++
			default:
				all.Unclear++
			}
			all.Pairs += pairs
		}
	})
	return all
}

// simulate calls one n times on all CPUs, each time with other random numbers. It calls the returned functions one at a time.
func simulate(n int, seed uint64, one func(*rand.Rand) (add func())) {
	var lock sync.Mutex
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < n; i += workers {
				add := one(rand.New(rand.NewPCG(seed, uint64(i))))
				lock.Lock()
				add()
				lock.Unlock()
			}
		})
	}
	group.Wait()
}

// compare makes one comparison like `k6 x compare`.
func (c Case) compare(random *rand.Rand) (difference.Outcome, int) {
	series := newSeries(c, random)
	if c.Pairs > 0 {
		series.add(c.Pairs)
		return series.judge(difference.Look{Failures: true}), c.Pairs
	}
	for number := 1; ; number++ {
		pairs := min(difference.Next(len(series.samples[0])), c.Most)
		series.add(pairs - len(series.samples[0]))
		look := difference.Look{Number: number, Failures: true}
		outcome := series.judge(look)
		if pairs == c.Most || outcome != difference.Unclear {
			return outcome, pairs
		}
	}
}

// primaries is the number of primary metrics, which come first in a series.
const primaries = 2

// series are the samples of each metric in the pairs of one comparison.
type series struct {
	Case
	machine *machine
	lot     uint64
	random  *rand.Rand
	samples [][]float64
}

func newSeries(c Case, random *rand.Rand) *series {
	pairs := max(c.Pairs, c.Most)
	return &series{c, newMachine(random, c.Noise, c.CV, 2*pairs), random.Uint64(), random, make([][]float64, primaries+4*c.Operations)}
}

// add simulates more pairs. Half of the variance of a run is common to all its operations.
func (s *series) add(pairs int) {
	half := math.Sqrt(0.5)
	for range pairs {
		number := len(s.samples[0]) + 1
		a, b := s.machine.pair(number, s.lot)
		shift := b - a + half*(s.machine.draw()-s.machine.draw())
		slower := shift + math.Log1p(s.Slower)
		var speed, cpu float64
		for i := range s.Operations {
			of := s.samples[primaries+4*i : primaries+4*i+4]
			own := func(noisy float64) float64 { return noisy * half * (s.machine.draw() - s.machine.draw()) }
			values := [4]float64{slower + own(1), slower + own(2), slower + own(3), shift + own(0.5)}
			for j, v := range values {
				of[j] = append(of[j], v)
			}
			speed += values[0] / float64(s.Operations)
			cpu += values[3] / float64(s.Operations)
		}
		s.samples[0], s.samples[1] = append(s.samples[0], speed), append(s.samples[1], cpu)
	}
}

func (s *series) judge(look difference.Look) difference.Outcome {
	metrics := make([]difference.Metric, len(s.samples))
	for i, samples := range s.samples {
		role := difference.Secondary
		if i < primaries {
			role = difference.Primary
		}
		metrics[i] = difference.Metric{Shift: difference.Paired(samples), Bound: math.Log1p(Bound), Role: role}
	}
	answers, breaks := difference.Judge(metrics, nil, look)
	outcome := difference.Overall(metrics, answers, breaks)
	if outcome == difference.Within && len(difference.Mute(metrics, look)) > 0 {
		return difference.Unclear
	}
	return outcome
}
