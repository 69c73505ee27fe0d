// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.k6.io/k6/metrics"
)

// scattered gives each sample of a record to a random part; a series without samples goes to one part whole.
func scattered(t *testing.T, whole *Record, parts int, random *rand.Rand) (all []*Record) {
	t.Helper()
	for range parts {
		all = append(all, New())
	}
	for _, s := range whole.series {
		if s.kind != metrics.Trend {
			to := all[random.IntN(parts)].Series(s.metric, s.kind, s.tags)
			to.sum, to.min, to.max, to.last, to.count, to.nonzero = s.sum, s.min, s.max, s.last, s.count, s.nonzero
			continue
		}
		for _, r := range all {
			r.Series(s.metric, s.kind, s.tags)
		}
		own := s.samples.ordered()
		if own == nil {
			continue
		}
		for _, b := range own.blocks {
			inside, err := own.load(b)
			if err != nil {
				t.Fatal(err)
			}
			for _, value := range inside {
				all[random.IntN(parts)].Series(s.metric, s.kind, s.tags).Add(inUnits(value))
			}
		}
	}
	return all
}

// The records of testdata are from real smoke runs of pulsar/ingest and panel/users-create on their testbeds.
func TestPartsOfAKeptRecordAreTheWholeToTheLastDigit(t *testing.T) {
	paths, err := filepath.Glob("testdata/*" + Extension)
	if err != nil || len(paths) != 2 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole, _, err := opened(file)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, parts := range []int{1, 2, 7, 100} {
			set := Together(asFiles(t, scattered(t, whole, parts, rand.New(rand.NewPCG(uint64(parts), 3))))...)
			compared := 0
			for _, s := range whole.series {
				for _, tags := range []map[string]string{nil, s.tags, {"operation": s.tags["operation"]}} {
					want, _ := whole.Values(s.metric, tags)
					got, _ := set.Values(s.metric, tags)
					if s.kind == metrics.Gauge {
						delete(want, "value")
						delete(got, "value")
					}
					if !maps.Equal(got, want) {
						t.Errorf("%s in %d parts: %s %v: %v, want %v", path, parts, s.metric, tags, got, want)
					}
					compared++
				}
			}
			if compared < 15 {
				t.Errorf("%s: %d figures", path, compared)
			}
		}
	}
}

func TestAKeptRecordIsWrittenAgainAsItWas(t *testing.T) {
	file, err := os.ReadFile("testdata/pulsar-ingest" + Extension)
	if err != nil {
		t.Fatal(err)
	}
	r, evidence, err := opened(file)
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := r.Write(&again, evidence); err != nil || !bytes.Equal(again.Bytes(), file) {
		t.Error("it differs", err)
	}
}
