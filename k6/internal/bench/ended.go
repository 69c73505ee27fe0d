// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"fmt"
	"time"

	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/sidecar"
)

// aliveEvery is how often the processes of a testbed are asked for.
const aliveEvery = 500 * time.Millisecond

// stopWhenEnded stops k6 gracefully when a process of the instance ends by itself: what would be measured then is
// how fast a dead system refuses. What it returns ends the watch and says which process ended, "" where none did.
func (b *session) stopWhenEnded(j job, instance sidecar.Instance) func() string {
	if instance.ID == "" {
		return func() string { return "" }
	}
	over, said := make(chan struct{}), make(chan string, 1)
	begin := time.Now()
	go func() {
		defer close(said)
		ticks := time.NewTicker(aliveEvery)
		defer ticks.Stop()
		for {
			select {
			case <-over:
				return
			case <-ticks.C:
			}
			running, err := b.sidecar.Processes(instance.ID)
			if err != nil {
				continue // the sidecar's own end is watched elsewhere
			}
			for _, p := range running {
				if p.Exit == nil {
					continue
				}
				line := fmt.Sprintf("%s of testbed %s ended by itself (%s), %.1f s after k6 had started", p.Name, j.testbed.Name, *p.Exit, time.Since(begin).Seconds())
				said <- line
				b.screen.Error("%s: %s: stopping k6", j.scenario, line)
				b.interrupts.Stop()
				return
			}
		}
	}()
	return func() string {
		close(over)
		return <-said
	}
}

// stopWithSidecar stops k6 gracefully when the sidecar, and the testbed with it, ends: k6 would load a dead
// port. What it returns ends the watch.
func (b *session) stopWithSidecar(s plan.Scenario) func() {
	over := make(chan struct{})
	go func() {
		select {
		case <-b.sidecar.Done():
			b.screen.Error("%s: the sidecar ended: stopping k6", s)
			b.interrupts.Stop()
		case <-over:
		}
	}()
	return func() { close(over) }
}
