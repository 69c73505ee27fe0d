// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"fmt"
	"sync"

	"windtunnel/k6/internal/barrier"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/run"
)

// CanRunAtOnce reports whether the loads of both sides can run at once: the script allows it, each side has a testbed, and no port is
// fixed for both. The sidecar counts the effects of LIMITS on all systems that run.
func (s *Session) CanRunAtOnce(scenario plan.Scenario) bool {
	if len(s.sides) != 2 || s.Runners > 1 || s.Dashboard || s.InTurn || s.Limits() != "" {
		return false
	}
	a, b := s.sides[0].Testbed(scenario), s.sides[1].Testbed(scenario)
	if a == nil || b == nil {
		return false
	}
	bed := s.sides[0].Bed(scenario)
	for name, value := range a.Variables {
		if bed.IsPort(name) && fmt.Sprint(value) != "0" && fmt.Sprint(value) == fmt.Sprint(b.Variables[name]) {
			return false
		}
	}
	return plan.RunsAtOnce(s.asked[0], scenario)
}

// RunAtOnce runs a scenario on both sides at once. Their loads begin together, and their clean-ups begin when both loads have ended.
// Folders and labels are as in Run, by side.
func (s *Session) RunAtOnce(scenario plan.Scenario, folders, labels [2]string) (entries [2]run.Scenario) {
	both, err := barrier.New()
	if err != nil {
		for side := range entries {
			entries[side] = run.Scenario{System: scenario.System, Scenario: scenario.Name}
			setupFailed(&entries[side], run.OfBench, fmt.Sprintf("cannot let both sides run at once: %v", exit.Reason(err)))
		}
		return entries
	}
	defer both.Close()
	var running sync.WaitGroup
	for side := range entries {
		running.Go(func() {
			defer both.Gone(side)
			t := turn{scenario: scenario, folder: folders[side], label: labels[side], barrier: both.Value(side)}
			entries[side] = s.on(side).runTurn(s.ctx, &s.sides[side], t)
		})
	}
	running.Wait()
	return entries
}

// wasLeftAlone reports whether a k6 of a system that lives ended because the other side had ended: it met nobody in its set-up, or
// was stopped with the other k6. That is no failure of this side.
func (j job) wasLeftAlone(code int, entry run.Scenario) bool {
	return j.barrier != "" && (code == externallyAborted || entry.Outcome == run.SetupFailed && barrier.WasAlone(j.barrier))
}
