// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"
	"fmt"
	"time"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/run"
)

// scenario runs the i-th scenario and fills its entry in the record.
func (b *bench) scenario(ctx context.Context, i int, entry *run.Scenario) {
	s := b.plan.scenarios[i]
	label := fmt.Sprintf("[%d/%d] %s", i+1, len(b.plan.scenarios), s)
	subject := b.plan.subject(s)
	if why, ok := b.broken[subject]; ok {
		entry.Outcome, entry.Message = run.SetupFailed, why
		if b.lastFault[subject] != "" {
			entry.Outcome, entry.Message = run.Skipped, "would fail as the scenario before it did"
		}
		b.lastFault[subject] = why
		b.streamEnd(b.plan.job(b.Options, s, label, b.RunID, b.dir), *entry, 0)
		b.tell(label, *entry, 0)
		return
	}
	entry.Outcome = run.Running
	_ = b.record.Write(b.dir) // the next write reports an error
	begin := time.Now()
	b.screen.Progress(label + "  starting")
	why := b.attemptUndisturbed(ctx, b.plan.job(b.Options, s, label, b.RunID, b.dir), entry)
	if why != "" {
		b.broken[subject] = why
	}
	if entry.Outcome == run.SetupFailed {
		if b.lastFault[subject] == entry.Message {
			b.broken[subject] = entry.Message
		}
		b.lastFault[subject] = entry.Message
	}
	b.tell(label, *entry, time.Since(begin))
}

// tell prints how a scenario ended; the reasons of a result come with the summary.
func (b *bench) tell(label string, entry run.Scenario, took time.Duration) {
	text := label + "  " + b.paint(entry.Outcome)
	if took > 0 {
		text += "  " + format.Seconds(took.Seconds())
	}
	b.screen.Line("%s", text)
}
