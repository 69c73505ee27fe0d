// SPDX-License-Identifier: AGPL-3.0-only

package power

import (
	"math"
	"math/rand/v2"

	"windtunnel/k6/internal/difference"
)

// Noise is the kind of noise between runs of one program.
type Noise string

// The kinds of noise. All have the case's coefficient of variation; drifts are added.
const (
	Normal Noise = "normal"
	// HeavyTails is Student's t with 3 degrees of freedom: some runs are far off.
	HeavyTails Noise = "heavy tails"
	// Drift slows the machine by a factor of 1.6 from the first run to the last.
	Drift Noise = "drift by 1.6"
	// Jumps slows the machine by a factor of 1.3 suddenly, and back, at random times.
	Jumps Noise = "jumps by 1.3"
	// Tide is a neighbour that is active every four runs: in step with A B B A.
	Tide Noise = "a tide of 4 runs"
)

// Noises are all kinds.
var Noises = []Noise{Normal, HeavyTails, Drift, Jumps, Tide}

// machine generates the logarithms of the slowdown of consecutive runs.
type machine struct {
	random *rand.Rand
	noise  Noise
	cv     float64
	runs   int // length of a drift
	at     int
	jumped bool
	phase  float64
}

func newMachine(random *rand.Rand, noise Noise, cv float64, runs int) *machine {
	return &machine{random: random, noise: noise, cv: cv, runs: runs, phase: 2 * math.Pi * random.Float64()}
}

// draw returns the deviation of one measurement.
func (m *machine) draw() float64 {
	if m.noise != HeavyTails {
		return m.random.NormFloat64() * m.cv
	}
	z := m.random.NormFloat64()
	var chi float64
	for range 3 {
		x := m.random.NormFloat64()
		chi += x * x
	}
	return z / math.Sqrt(chi) * m.cv // Student's t with 3 degrees of freedom has variance 3
}

// next returns the slowdown of the next run.
func (m *machine) next() float64 {
	at := m.at
	m.at++
	switch m.noise {
	case Drift:
		return math.Log(1.6) * float64(at) / float64(m.runs)
	case Jumps:
		if m.random.IntN(10) == 0 {
			m.jumped = !m.jumped
		}
		if m.jumped {
			return math.Log(1.3)
		}
	case Tide:
		return 0.1 * math.Cos(math.Pi/2*float64(at)+m.phase)
	}
	return 0
}

// pair simulates a run of A and a run of B, in the order of the pair.
func (m *machine) pair(number int, lot uint64) (a, b float64) {
	if difference.FirstIsB(number, lot) {
		b = m.next()
		return m.next(), b
	}
	a = m.next()
	return a, m.next()
}
