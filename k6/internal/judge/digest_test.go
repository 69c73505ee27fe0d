// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
)

var digestRuns = flag.Int("digest", 0, "made runs whose results are printed as digests; tests/same-results compares them with an older commit's")

// TestDigest prints a verdict and the SHA-256 of the result and the text of each made run.
func TestDigest(t *testing.T) {
	var work sync.WaitGroup
	for first := range uint64(runtime.GOMAXPROCS(0)) {
		work.Go(func() {
			for seed := first; seed < uint64(*digestRuns); seed += uint64(runtime.GOMAXPROCS(0)) {
				found, err := Runners(madeRun(rand.New(rand.NewPCG(seed, 33))))
				text := []byte(fmt.Sprint(err))
				if err == nil {
					text, err = found.File()
					text = fmt.Append(text, found.Text(), err)
				}
				fmt.Printf("judge %d %s %x\n", seed, found.Verdict, sha256.Sum256(text))
			}
		})
	}
	work.Wait()
}

// madeRun are the records of one to three runners with random evidence. Most of it is as it should be.
func madeRun(lot *rand.Rand) (all []Recorded) {
	rarely := func() bool { return lot.IntN(12) == 0 }
	var run Evidence
	run.Run = json.RawMessage(`{"id":"made","start":"2026-01-01T00:00:00Z","end":"2026-01-01T00:01:00Z","duration_s":60,"system":"pulsar","scenario":"made","profile":"full","environment":"local","parameters":{}}`)
	run.LoadS, run.SilentMS, run.Leftovers = 60, 10_000, "topics"
	for number := range 1 + lot.IntN(3) {
		op := Operation{Name: fmt.Sprintf("op%d", number), Title: "Op", Loop: []string{"closed", "open"}[lot.IntN(2)], LatencyIs: "made",
			Optional: rarely(), Saturates: rarely(), PlannedS: 60 * float64(lot.IntN(2)),
			Bounds: bounds(map[string]float64{"failed": 0.01 * float64(lot.IntN(2)), "p(95)": 30 + 200*lot.Float64()})}
		if number > 0 && lot.IntN(2) == 0 {
			op.Control, op.AgainstControl = "op0", true
		}
		if rarely() {
			op.Bounds["rate"] = p(1e4 * lot.Float64())
		}
		run.Operations = append(run.Operations, op)
	}
	run.Plan.Seconds = 60
	if lot.IntN(2) == 0 {
		run.Placement = &result.Placement{Name: "split", ProbeCPUs: "1", EchoCPUs: "1", SystemCPUs: "0", Wait: "block"}
	}
	if rarely() {
		run.Protocols = &Protocols{Compared: lot.IntN(2) == 0, Rows: madeRows(lot)}
	}
	if rarely() {
		run.Link = madeLink(lot)
	}
	runners := 1
	if lot.IntN(3) == 0 {
		runners += 1 + lot.IntN(2)
	}
	for number := 1; number <= runners; number++ {
		e := run
		e.Counts.Iterations, e.Counts.Dropped = 300, float64(lot.IntN(12)/11*40)
		if !rarely() {
			e.Usage = usage(100*lot.Float64(), 50+50*lot.Float64(), 60, []string{"", "status 1"}[lot.IntN(20)/19])
			e.Usage.DurationS = 60
			e.Usage.Host.ByCPU = []CPUUsage{cpuUsage(0, lot.Float64()/2), cpuUsage(1, lot.Float64()/2)}
		}
		e.Facts = []Fact{{Check: "messages", Source: "api", Found: Amount{Said: p(int64(300 - lot.IntN(20)/19))}, Reported: Amount{Said: p(int64(300))}}}
		e.RestBefore = []AtRest{{Name: "relay"}}
		if runners > 1 {
			e.Runner = &Runner{Number: number, Of: runners, Together: "one", Segment: fmt.Sprintf("%d/%d:%d/%d", number-1, runners, number, runners),
				StartOffsetMS: 300 * lot.Float64(), CPUS: p(60 * lot.Float64()), CPUs: p(2.0), MachineCPUs: 2, Machine: "here", Teardown: number == 1}
		}
		one := Recorded{Number: number, Evidence: e, Record: madeRecord(lot, run.Operations), File: fmt.Sprintf("made.runner-%d.record", number)}
		if runners > 1 && lot.IntN(30) == 0 {
			one = Lost(number, "it was killed")
		}
		all = append(all, one)
	}
	return all
}

func madeLink(lot *rand.Rand) *Link {
	use := LinkUse{Name: "the run's pair", Links: 1, RealTime: true, Up: LinkCounts{Sent: 9, Delivered: 9, OwnUnread: p(int64(lot.IntN(2)))}, Down: LinkCounts{Sent: 5}}
	l := &Link{Uses: []LinkUse{use}}
	l.About.Text, l.Calibration.OK, l.Calibration.Wrong = "far", lot.IntN(4) > 0, []string{"delay"}
	return l
}

func madeRecord(lot *rand.Rand, operations []Operation) *record.Record {
	r := record.New()
	for _, op := range operations {
		tags := map[string]string{"operation": op.Name}
		middle, spread := 5+30*lot.Float64(), lot.Float64()
		count := []int{0, 3, 60, 300, 600}[min(4, lot.IntN(14))]
		latency, rate, lateness := r.Series("operation_ms", metrics.Trend, tags), r.Series("operation_failed", metrics.Rate, tags), r.Series("operation_lateness_ms", metrics.Trend, tags)
		for range count {
			latency.Add(middle * math.Exp(spread*lot.NormFloat64()))
			rate.Add(0)
			lateness.Add(lot.ExpFloat64() / 4)
		}
		if failed := lot.IntN(8) / 7 * lot.IntN(20); failed > 0 {
			kind := []string{"timeout", "http_429", "corrupted", "lost", "connection"}[lot.IntN(5)]
			r.Series("operation_errors", metrics.Counter, map[string]string{"operation": op.Name, "kind": kind}).Add(float64(failed))
			for range failed {
				rate.Add(1)
			}
		}
		r.Series("operation_items", metrics.Counter, tags).Add(float64(count))
		clock := r.Series("operation_clock_ms", metrics.Gauge, tags)
		clock.Add(0)
		clock.Add(60_000)
	}
	if lot.IntN(20) == 0 {
		r.Series("cleanup_left", metrics.Counter, nil).Add(float64(lot.IntN(3)))
	}
	return r
}
