// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"
	"slices"
	"time"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// A scenario that others on its CPUs disturbed is measured again: so often at most, and only if it took no longer.
const (
	againMost   = 2
	againWithin = 3 * time.Minute
)

// attemptUndisturbed is attempt, again where others disturbed what was measured. The record tells of each time.
func (b *bench) attemptUndisturbed(ctx context.Context, j job, entry *run.Scenario) (broken string) {
	for again := 1; ; again++ {
		begin := time.Now()
		broken = b.attempt(ctx, j, entry)
		took := time.Since(begin)
		why := b.disturbed(j, *entry)
		if why == "" || broken != "" || again > againMost || took > againWithin || b.interrupts.any() {
			return broken
		}
		b.screen.Line("%s  %s  %s: %s: measured again (%d of %d at most)", j.label, b.paint(entry.Outcome),
			format.Seconds(took.Seconds()), why, again, againMost)
		entry.Disturbed = append(entry.Disturbed, why)
		entry.Outcome, entry.Message, entry.Result, entry.ExitCode = run.Running, "", "", nil
	}
}

// disturbed says what others did to a measurement that is inconclusive for that alone, "" for any other: a lateness of the
// generator may well come from them, an error of the system does not.
func (b *bench) disturbed(j job, entry run.Scenario) string {
	if entry.Outcome != run.Inconclusive || entry.Result == "" {
		return ""
	}
	measured, err := result.Read(j.file(".json"))
	if err != nil || measured.Verdict != result.Inconclusive {
		return ""
	}
	first := ""
	for _, reason := range measured.Reasons {
		if !slices.Contains([]string{result.Machine, result.Generator}, reason.Kind) {
			return ""
		}
		if reason.Kind == result.Machine && first == "" {
			first = reason.Text
		}
	}
	return first
}
