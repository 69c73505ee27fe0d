// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/variables"
)

// againWithin is the longest duration of a measurement that may be repeated.
const againWithin = 3 * time.Minute

// attemptUndisturbed repeats attempt if the measurement was spoilt. The record notes each repetition.
func (b *bench) attemptUndisturbed(ctx context.Context, j job, entry *run.Scenario) (broken string) {
	most := int(variables.Number("AGAIN", b.Getenv("AGAIN"))) // the preflight has rejected values out of range
	for again := 1; ; again++ {
		begin := time.Now()
		j.again = again > 1
		broken = b.attempt(ctx, j, entry)
		took := time.Since(begin)
		why := b.disturbed(j, *entry)
		if b.stream != nil { // the points of this measurement are sent already; those of another one would be added to them
			return broken
		}
		if why == "" || broken != "" || again > most || took > againWithin || b.interrupts.Any() {
			return broken
		}
		if err := j.forget(b.Runners); err != nil {
			b.screen.Error("%s: not measured again: the files of the first measurement cannot be removed: %v", j.scenario, exit.Reason(err))
			return broken
		}
		b.screen.Line("%s  %s  %s: %s: measured again (%d of %d at most)", j.label, b.screen.Paint(entry.Outcome),
			format.Seconds(took.Seconds()), why, again, most)
		entry.Disturbed = append(entry.Disturbed, why)
		entry.Outcome, entry.Message, entry.Cause, entry.Result, entry.ExitCode = run.Running, "", "", "", nil
	}
}

// forget removes the files of a measurement: otherwise a file that the next measurement does not write would seem to be
// its own.
func (j job) forget(runners int) error {
	left := []string{j.file(".json"), j.file(record.Extension), j.file(".dashboard.html")}
	for number := 1; number <= runners; number++ {
		left = append(left, filepath.Join(j.dir, judge.FileOf(j.scenario.FileStem(), number)), j.dashboardOf(number))
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// disturbed says what spoilt a measurement, "" if a repetition would not help.
func (b *bench) disturbed(j job, entry run.Scenario) string {
	if entry.Outcome != run.Inconclusive || entry.Result == "" {
		return ""
	}
	measured, err := result.Read(j.file(".json"))
	if err != nil {
		return ""
	}
	return judge.Spoilt(measured)
}
