// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"

	"github.com/aclements/go-moremath/mathx"

	"windtunnel/k6/internal/result"
)

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
