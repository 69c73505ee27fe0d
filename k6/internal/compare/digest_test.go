// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var digestPairs = flag.Int("digest", 0, "five times the number of made comparisons whose outcomes are printed as digests; tests/same-results compares them with an older commit's")

// TestDigest prints the exit code of each made comparison, and the SHA-256 of its file, its page and its JUnit.
func TestDigest(t *testing.T) {
	for seed := range uint64(*digestPairs) / 5 {
		q := draw(rand.New(rand.NewPCG(seed, 33)), seed%5 == 0).Request
		made := Make(q)
		made.Made = time.Time{}
		text, err := json.Marshal(made)
		if err != nil {
			t.Fatal(err)
		}
		units, err := JUnit([]Comparison{made})
		if err != nil {
			t.Fatal(err)
		}
		all := append(append(text, made.Markdown()...), units...)
		fmt.Printf("compare %d %d %x\n", seed, code(q), sha256.Sum256(all))
	}
}
