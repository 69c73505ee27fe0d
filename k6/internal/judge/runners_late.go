// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"

	"github.com/aclements/go-moremath/mathx"

	"windtunnel/k6/internal/result"
)

const (
	// lateShare of a runner's own requests may be later than the bound of its operation, as of the whole run's at P99.
	lateShare = 0.01
	// wronglyLateMost is how often at most a run has a runner that is called late, and has no more late requests than that
	// but by chance: a hundred runners have a hundred chances.
	wronglyLateMost = 0.01
)

// latenessOf is how late a runner was at P99, of the operation in which it was latest, and what is too much of it. Each runner
// goes by its own: in the P99 of a hundred, one late generator cannot be seen.
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

// isLate: so many late ones of all are more than chance makes of lateShare, in any runner of so many.
func isLate(late, all int64, runners int) bool {
	if late == 0 {
		return false
	}
	// The chance of as many or more: https://en.wikipedia.org/wiki/Binomial_distribution#Cumulative_distribution_function
	chance := mathx.BetaInc(lateShare, float64(late), float64(all-late)+1)
	return chance < wronglyLateMost/float64(runners)
}
