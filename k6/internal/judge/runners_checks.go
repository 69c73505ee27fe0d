// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aclements/go-moremath/mathx"

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

const (
	// lateShare is the share of a runner's requests that may be later than the bound of its operation. The
	// whole run allows the same share, because its bound is for P99.
	lateShare = 0.01
	// wronglyLateMost is the probability that a run wrongly calls any of its runners late, by chance. It is corrected
	// for the number of runners.
	wronglyLateMost = 0.01
)

// latenessOf is the P99 lateness of a runner in its latest operation, and the reasons why it is too late. Each runner is
// judged alone: one late generator is invisible in the P99 of a hundred.
func latenessOf(one Recorded, rows []result.Operation, runners int) (worst *float64, faults []string) {
	for _, row := range rows {
		own := of(one.set, "operation_lateness_ms", row.Name)
		if own["count"] == 0 {
			continue
		}
		if late := rounded(own["p(99)"]); worst == nil || late > *worst {
			worst = &late
		}
		what, most := latenessBound(row)
		above := one.set.Above("operation_lateness_ms", map[string]string{"operation": row.Name}, most)
		if isLate(above, int64(own["count"]), runners) {
			faults = append(faults, fmt.Sprintf("%s: %d of %.0f %s more than %.3f ms late", row.Name, above, own["count"], what, most))
		}
	}
	return worst, faults
}

// isLate reports whether more requests are late than chance explains with lateShare, in any of this many runners.
func isLate(late, all int64, runners int) bool {
	if late == 0 {
		return false
	}
	// The probability of this many or more:
	// https://en.wikipedia.org/wiki/Binomial_distribution#Cumulative_distribution_function
	chance := mathx.BetaInc(lateShare, float64(late), float64(all-late)+1)
	return chance < wronglyLateMost/float64(runners)
}

// If one runner has worse figures than all others, the cause may be the runner, its network path to the system, or the
// system's limit for one client. One of a hundred runners is only 1 % of the figures, and bounds may allow
// 1 %.

const (
	// aloneLeast is the smallest number of requests of an operation for which a runner is judged alone.
	aloneLeast = 10
	// aloneFailedMost is the largest share of failed requests in one runner, if a smaller share failed in the whole run.
	aloneFailedMost = 0.5
)

// nothingSent reports a runner without a part of the load: it does not do its work.
func nothingSent(own, all float64) []string {
	if own > 0 || all == 0 {
		return nil
	}
	return []string{"it sent nothing"}
}

// refusedFaults reports a runner with mostly failed requests, if most requests of the whole run succeeded. A run that
// looks for the limit is judged by its steps instead.
func (e Evidence) refusedFaults(one Recorded, rows []result.Operation) (faults []string) {
	if e.Steps != nil || len(e.runners) < 2 {
		return nil
	}
	for _, row := range rows {
		own := of(one.set, "operation_failed", row.Name)
		failed, all := own["passes"], own["passes"]+own["fails"]
		whole := float64(row.Requests - row.Success)
		if all < aloneLeast || failed <= aloneFailedMost*all || whole > aloneFailedMost*float64(row.Requests) {
			continue
		}
		if bound := e.find(row.Name).Bounds["failed"]; bound != nil && *bound > aloneFailedMost {
			continue // this operation's requests may fail
		}
		faults = append(faults, fmt.Sprintf("%s: %.0f of this runner's %.0f requests failed; of all runners %.0f of %d", row.Name, failed, all, whole, row.Requests))
	}
	return faults
}

// limitFaults is for a run that looks for the limit. It reports each runner for which alone the failed step is beyond
// the limit without doubt, while another runner's part of the step held: a limit of the system would affect all.
func (e Evidence) limitFaults(all []Recorded) map[int][]string {
	if e.Steps == nil {
		return nil
	}
	of := counting(all)
	faults := map[int][]string{}
	for number := range e.Steps.Loads {
		if len(faults) > 0 {
			break // the run ends with this step
		}
		for _, op := range e.Operations {
			var broke []Recorded
			held := false
			for _, one := range of {
				in := operationInStep(one.set, op, number)
				switch {
				case in.requests < aloneLeast:
				case in.beyondDoubt:
					broke = append(broke, one)
				case in.holds:
					held = true
				}
			}
			for _, one := range broke {
				if held {
					faults[one.Number] = append(faults[one.Number], fmt.Sprintf("%s: step %d was beyond the limit for this runner, but not for another one", op.Name, number+1))
				}
			}
		}
	}
	return faults
}
