// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"fmt"
	"net/http"
	"time"
)

// aliveEvery is how often the processes of a testbed are asked for.
const aliveEvery = 500 * time.Millisecond

// process is one of an instance. Exit is nil while it runs.
type process struct {
	Name string  `json:"name"`
	Exit *string `json:"exit"`
}

// processes returns those of an instance.
func (s *Sidecar) processes(instance string) ([]process, error) {
	var found struct{ Processes []process }
	err := s.briefly(http.MethodGet, "/instances/"+instance, nil, &found)
	return found.Processes, err
}

// stopWhenEnded stops k6 gracefully when a process of the instance ends by itself: what would be measured then is
// how fast a dead system refuses. What it returns ends the watch and says which process ended, "" where none did.
func (b *session) stopWhenEnded(j job, instance Instance) func() string {
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
			running, err := b.sidecar.processes(instance.ID)
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
				b.interrupts.stop()
				return
			}
		}
	}()
	return func() string {
		close(over)
		return <-said
	}
}
