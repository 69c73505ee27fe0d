// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"fmt"
	"sync"

	"windtunnel/k6/internal/baton"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/run"
)

// BothUp reports whether the loads of both sides can take turns while both systems are up: the script allows it, each side
// has a testbed, and no port is fixed for both.
func (s *Session) BothUp(scenario plan.Scenario) bool {
	if len(s.sides) != 2 || s.Runners > 1 || s.Dashboard || s.OneUp {
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
	return plan.TakesTurns(s.asked[0], scenario)
}

// RunBothUp runs a scenario on both sides at once. Their loads follow each other, and the load of the side first is first.
// Folders and labels are as in Run, by side.
func (s *Session) RunBothUp(scenario plan.Scenario, first int, folders, labels [2]string) (entries [2]run.Scenario) {
	keeper, err := baton.Keep(first)
	if err != nil {
		for side := range entries {
			entries[side] = run.Scenario{System: scenario.System, Scenario: scenario.Name}
			setupFailed(&entries[side], run.OfBench, fmt.Sprintf("cannot let the loads take turns: %v", exit.Reason(err)))
		}
		return entries
	}
	defer keeper.Close()
	var running sync.WaitGroup
	for side := range entries {
		running.Go(func() {
			defer keeper.Gone(side)
			t := turn{scenario: scenario, folder: folders[side], label: labels[side], baton: keeper.Of(side)}
			entries[side] = s.on(side).runTurn(s.ctx, &s.sides[side], t)
		})
	}
	running.Wait()
	return entries
}
