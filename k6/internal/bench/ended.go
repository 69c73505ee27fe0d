// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"fmt"
	"strings"
	"time"

	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/sidecar"
)

const aliveEvery = 500 * time.Millisecond

// stopWhenEnded stops k6 gracefully when a process of the instance ends unexpectedly: k6 would only measure how fast a
// dead system refuses connections. The returned function ends the watch and names the process that ended, "" if all are
// alive.
func (b *session) stopWhenEnded(j job, instance sidecar.Instance) func() string {
	if instance.ID == "" {
		return func() string { return "" }
	}
	over, ended := make(chan struct{}), make(chan string, 1)
	begin := time.Now()
	go func() {
		defer close(ended)
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
				continue // stopWithSidecar watches the sidecar's end
			}
			for _, p := range running {
				if p.Exit == nil {
					continue
				}
				line := fmt.Sprintf("%s of testbed %s ended unexpectedly (%s), %.1f s after k6 had started", p.Name, j.testbed.Name, *p.Exit, time.Since(begin).Seconds())
				ended <- line
				b.screen.Error("%s: %s: stopping k6", j.scenario, line)
				b.interrupts.Stop()
				return
			}
		}
	}()
	return func() string {
		close(over)
		return <-ended
	}
}

// killedForMemory are the sidecar's words for a testbed that the scenario could not start.
const killedForMemory = "killed for memory"

// failIfKilled turns a failed set-up into a failure if the kernel killed the system for memory: too little memory is an
// outcome of the system, not a fault of the bench. A result says so itself.
func (b *session) failIfKilled(instance sidecar.Instance, entry *run.Scenario) {
	if instance.ID == "" || entry.Outcome != run.SetupFailed || !b.sidecar.Alive() {
		return
	}
	if strings.Contains(entry.Message, killedForMemory) {
		entry.Outcome, entry.Cause = run.Fail, ""
		return
	}
	if killed := b.sidecar.Killed(instance.ID); killed != "" {
		entry.Outcome, entry.Cause, entry.Message = run.Fail, "", "the system was "+killed+" while k6 set up"
	}
}

// stopWithSidecar stops k6 gracefully when the sidecar, and so the testbed, ends: k6 would load a dead port. The
// returned function ends the watch.
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
