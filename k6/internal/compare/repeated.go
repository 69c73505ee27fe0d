// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"windtunnel/k6/internal/result"
)

// repeated names in one line a run that appears more than once; "" if all differ. Pairs are evidence only if they are
// independent, so a copied run must not count twice.
func repeated(a, b []Measured) string {
	type place struct{ side, file string }
	ids, digests := map[string]place{}, map[[sha256.Size]byte]place{}
	for _, side := range []struct {
		name string
		runs []Measured
	}{{"A", a}, {"B", b}} {
		for _, m := range side.runs {
			if m.Result == nil {
				continue
			}
			here := place{side.name, m.File}
			if there, met := ids[m.Result.Run.ID]; met && m.Result.Run.ID != "" {
				return fmt.Sprintf("%s of %s and %s of %s are the same run, %s: give each run once", there.file, there.side, here.file, here.side, m.Result.Run.ID)
			}
			ids[m.Result.Run.ID] = here
			digest, measured := digestOf(*m.Result)
			if !measured {
				continue
			}
			if there, met := digests[digest]; met {
				return fmt.Sprintf("%s of %s and %s of %s have the same figures to the last digit: one is a copy of the other", there.file, there.side, here.file, here.side)
			}
			digests[digest] = here
		}
	}
	return ""
}

// digestOf is the SHA-256 of a run's measurements; it returns false for a run without latencies, whose counts may be
// equal by chance.
func digestOf(r result.Result) (digest [sha256.Size]byte, measured bool) {
	for _, op := range r.Operations {
		measured = measured || op.LatencyMS != nil
	}
	data, err := json.Marshal([]any{r.Operations, r.Processes})
	return sha256.Sum256(data), measured && err == nil
}
