// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"fmt"
	"time"

	"windtunnel/k6/internal/format"
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

// killed is how many processes of limited systems the kernel has killed for memory so far.
func (b *session) killed() int {
	if b.Limits() == "" || b.sidecar == nil || !b.sidecar.Alive() {
		return 0
	}
	return b.sidecar.Killed()
}

// failIfKilled turns a failed set-up into a failure if the kernel has killed more processes than before, of any testbed of the run. Too
// little memory is an outcome of the system, not a fault of the bench. A result says so itself.
func (b *session) failIfKilled(before int, entry *run.Scenario) {
	if entry.Outcome != run.SetupFailed {
		return
	}
	if times := b.killed() - before; times > 0 {
		message := fmt.Sprintf("killed for memory %s at %s: %s", format.Plural(times, "time"), b.Limits(), entry.Message)
		entry.Outcome, entry.Cause, entry.Message = run.Fail, "", message
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
