// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

const (
	// startMostMS is how far a runner's start may differ from the common start.
	startMostMS = 100
	// kindRunner is the kind of reason for a runner without a record that counts: the figures lack its measurements.
	kindRunner = "runner"
)

// judgeRunners adds the runners to the result. Each runner must be valid: a lost, late or CPU-starved runner is named,
// and the run does not pass.
func (j *Judged) judgeRunners(e Evidence) {
	if e.runners == nil {
		return
	}
	crowded := crowdedRunners(e.runners, j.Validity)
	limit := e.limitFaults(e.runners)
	sent := make([]float64, len(e.runners))
	var all float64
	for i, one := range e.runners {
		sent[i] = requestsOf(one, e.Operations)
		all += sent[i]
	}
	for i, one := range e.runners {
		row := rowOfRunner(one)
		if one.Lost != "" {
			j.Validity = append(j.Validity, *check(one.name(), kindRunner, false, row.Detail))
			j.Runners = append(j.Runners, row)
			continue
		}
		if all > 0 {
			row.Share = new(rounded(sent[i] / all))
		}
		late, faults := latenessOf(one, j.Operations, len(e.runners))
		row.LateMS = late
		faults = slices.Concat(startFaults(one), faults, e.cutFaults(one), nothingSent(sent[i], all), e.refusedFaults(one, j.Operations), limit[one.Number])
		if len(faults) > 0 {
			j.Validity = append(j.Validity, *check(one.name(), result.Generator, false, strings.Join(faults, "; ")))
		}
		if detail, ok := crowded[one.Number]; ok {
			faults = append(faults, detail)
		}
		row.OK, row.Detail = len(faults) == 0, strings.Join(faults, "; ")
		j.Runners = append(j.Runners, row)
	}
	if len(counting(e.runners)) == len(e.runners) {
		j.Validity = append(j.Validity, *check("runners", kindRunner, true, startsOf(e.runners)))
	}
}

func startsOf(all []Recorded) string {
	starts := seq.Map(all, func(one Recorded) float64 { return one.Evidence.Runner.StartOffsetMS })
	return fmt.Sprintf("%d records of %d; their loads began within %.1f ms", len(all), len(all), slices.Max(starts)-slices.Min(starts))
}

func requestsOf(one Recorded, operations []Operation) (requests float64) {
	if one.Lost != "" {
		return 0
	}
	for _, op := range operations {
		requests += of(one.set, "operation_ms", op.Name)["count"] + of(one.set, "operation_failed", op.Name)["passes"]
	}
	return requests
}

func startFaults(one Recorded) []string {
	if offset := one.Evidence.Runner.StartOffsetMS; math.Abs(offset) > startMostMS {
		return []string{fmt.Sprintf("its load began %.0f ms away from the common start; at most %d ms is allowed", offset, startMostMS)}
	}
	return nil
}

// cutFaults reports a runner whose load was shorter than planned, if time bounds the run.
func (e Evidence) cutFaults(one Recorded) []string {
	if own := one.Evidence.LoadS; e.Steps == nil && !lastedAsPlanned(e.Plan.Seconds, own) {
		return []string{fmt.Sprintf("%.1f s of %.1f s: ended early", own, e.Plan.Seconds)}
	}
	return nil
}
