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
	s := b.plan.Scenarios[i]
	label := fmt.Sprintf("[%d/%d] %s", i+1, len(b.plan.Scenarios), s)
	subject := b.plan.Subject(s)
	if found, ok := b.broken[subject]; ok {
		setupFailed(entry, found.cause, found.why)
		if b.lastFault[subject] != "" {
			entry.Outcome, entry.Message, entry.Cause = run.Skipped, "it would fail like the previous scenario", ""
		}
		b.lastFault[subject] = found.why
		b.stream.Ended(b.of(jobOf(&b.plan, b.Options, s, label, b.RunID, b.Dir())), *entry, b.Dir(), 0)
		b.tell(label, *entry, 0)
		return
	}
	entry.Outcome = run.Running
	_ = b.record.Write(b.Dir()) // the next write reports this error
	begin := time.Now()
	b.screen.Progress(label + "  starting")
	why := b.attemptUndisturbed(ctx, jobOf(&b.plan, b.Options, s, label, b.RunID, b.Dir()), entry)
	if why != "" {
		b.broken[subject] = broken{why, entry.Cause}
	}
	if entry.Outcome == run.SetupFailed {
		if b.lastFault[subject] == entry.Message {
			b.broken[subject] = broken{entry.Message, entry.Cause}
		}
		b.lastFault[subject] = entry.Message
	}
	b.tell(label, *entry, time.Since(begin))
}

type broken struct {
	why   string
	cause run.Cause
}

func setupFailed(entry *run.Scenario, cause run.Cause, why string) {
	entry.Outcome, entry.Cause, entry.Message = run.SetupFailed, cause, why
}

// tell prints how a scenario ended; the summary prints the reasons of a result.
func (b *bench) tell(label string, entry run.Scenario, took time.Duration) {
	text := label + "  " + b.screen.Paint(entry.Outcome)
	if took > 0 {
		text += "  " + format.Seconds(took.Seconds())
	}
	b.screen.Line("%s", text)
}
