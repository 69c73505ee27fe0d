// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/result"
)

// each edits the results of runs.
func each(runs []Measured, edit func(i int, m *Measured)) {
	for i := range runs {
		edit(i, &runs[i])
	}
}

// corruptsAll is a run in which each payload came back corrupted.
func corruptsAll(_ int, m *Measured) {
	no := false
	m.Outcome = "fail"
	m.Result.Operations[0] = withErrors(m.Result.Operations[0], "corrupted", 2000)
	m.Result.Validity = append(m.Result.Validity, result.Validity{Check: "samples: tcp", OK: &no, Detail: "0 samples"})
}

func besideANeighbour(_ int, m *Measured) {
	no := false
	m.Result.Validity = append(m.Result.Validity, result.Validity{Check: "neighbours", OK: &no, Detail: "others used the CPU"})
}

// many gives each run a number of operations.
func many(q Request, operations int) Request {
	for _, runs := range [][]Measured{q.A, q.B} {
		for i := range runs {
			r := runs[i].Result
			own := r.Operations[0]
			r.Operations = nil
			for n := range operations {
				op := own
				op.Name, op.Title = fmt.Sprintf("op%d", n), fmt.Sprintf("OP%d", n)
				r.Operations = append(r.Operations, op)
			}
		}
	}
	return q
}

// byABaseline judges the first run of B by the runs of A, as kept runs.
func byABaseline(q Request) Request {
	q.B, q.Kept, q.Planned, q.WorseBy = q.B[:1], true, 0, 30
	for _, runs := range [][]Measured{q.A, q.B} {
		for i := range runs {
			runs[i].Pair = 0
		}
	}
	return q
}

// TestEvidenceThatWasLost has a comparison for each way in which evidence can be lost on its way to the verdict.
func TestEvidenceThatWasLost(t *testing.T) {
	equal := func(n int) Request { return pairsOf(n, noise(41), noise(42)) }
	for name, c := range map[string]struct {
		make func() Request
		code int
		says string // in a reason
		kind string // kind of the doubt
	}{
		"B corrupts every payload": {func() Request { q := equal(12); each(q.B, corruptsAll); return q },
			exit.Fail, "had an operation without any success in 12 of 12 runs", ""},
		"B corrupts every payload beside a neighbour": {func() Request {
			q := equal(12)
			each(q.B, corruptsAll)
			each(q.B, besideANeighbour)
			return q
		}, exit.Fail, "corrupted in 24,000 of 24,000 operations", ""},
		"B times out beside a neighbour": {func() Request {
			q := equal(14)
			each(q.B[:2], func(_ int, m *Measured) {
				m.Result.Operations[0], m.Outcome = withErrors(m.Result.Operations[0], "timeout", 20), "fail"
			})
			each(q.B[:2], besideANeighbour)
			return q
		}, exit.Inconclusive, "timeout in 40 of 28,000 operations", TooLittleTime},
		"one run of B lacks CPU": {func() Request { q := equal(12); q.B[4].Result.Processes = nil; return q },
			exit.Inconclusive, "CPU per operation was not measured in b5", IsMissing},
		"no run has CPU, though the system was started": {func() Request {
			q := equal(12)
			for _, runs := range [][]Measured{q.A, q.B} {
				each(runs, func(_ int, m *Measured) { m.Result.Processes = nil })
			}
			return q
		}, exit.Inconclusive, "the CPU time per operation was not measured on both sides", IsMissing},
		"A's first run lacks throughput": {func() Request { q := equal(12); q.A[0].Result.Operations[0].Transfer.MbitPerS = nil; return q },
			exit.Inconclusive, "TCP throughput was not measured in a1", IsMissing},
		"only A has a P99": {func() Request {
			q := equal(12)
			each(q.B, func(_ int, m *Measured) { m.Result.Operations[0].LatencyMS.P99 = nil })
			return q
		}, exit.Inconclusive, "TCP P99 was not measured in b1, b2, b3 and 9 more runs (the smallest run has 2,000 samples; a larger TIMES makes more)", IsMissing},
		"the generator's lateness hides a P99": {func() Request {
			q := equal(12)
			yes := true
			each(q.B[:3], func(_ int, m *Measured) {
				m.Result.Operations[0].LatencyMS.P99 = nil
				m.Result.Validity = append(m.Result.Validity, result.Validity{Check: "generator lateness: tcp", OK: &yes,
					Detail: "sent late by 0.900 ms at P99; at most 5.000 ms is allowed; the lateness is more than half of P99, which is not shown"})
			})
			return q
		}, exit.Pass, "", ""},
		"B takes no CPU": {func() Request { q := equal(12); q.B[3].Result.Processes[0].CPUS = 0; return q },
			exit.Inconclusive, "b4: an impossible figure: the system took 0 s of CPU for 2,000 operations", IsMissing},
		"B takes no memory": {func() Request { q := equal(12); q.B[3].Result.Processes[0].PeakAnonBytes = new(int64(0)); return q },
			exit.Inconclusive, "the system's own memory is 0 bytes", IsMissing},
		"more successes than requests": {func() Request { q := equal(12); q.B[3].Result.Operations[0].Requests = 7; return q },
			exit.Inconclusive, "2,000 successes of 7 requests", IsMissing},
		"more bytes than the link carries": {func() Request {
			q := equal(12)
			for _, runs := range [][]Measured{q.A, q.B} {
				each(runs, func(_ int, m *Measured) {
					overALink(m.Result)
					m.Result.Run.Link.Settings.Up.RateBitS, m.Result.Run.Link.Settings.Down.RateBitS = new(int64(5e6)), new(int64(5e6))
				})
			}
			return q
		}, exit.Inconclusive, "Mbit/s over a link of 5.000 Mbit/s", IsMissing},
		"98 times the memory in 9 of 9 pairs": {func() Request {
			q := equal(9)
			each(q.B, func(_ int, m *Measured) { m.Result.Processes[0].PeakAnonBytes = new(int64(98 * 50 << 20)) })
			return q
		}, exit.Inconclusive, "secondary metrics to fail, however much worse B was: at least 11 pairs are needed, about 22.0 s in all; SECONDARY=off", TooLittleTime},
		"a P99 of three times with 10 pairs": {func() Request {
			q := equal(10)
			each(q.B, func(_ int, m *Measured) {
				l := m.Result.Operations[0].LatencyMS
				*l.P99, *l.P999, l.Max = 3**l.P99, 3**l.P999, 3*l.Max
			})
			return q
		}, exit.Inconclusive, "too few for 6 secondary metrics to fail", TooLittleTime},
		"one of 24 operations 30 % slower with 12 pairs": {func() Request {
			q := many(equal(12), 24)
			each(q.B, func(_ int, m *Measured) { m.Result.Operations[7] = operation("op7", 1.3*noise(9)(0)) })
			return q
		}, exit.Inconclusive, "145 secondary metrics to fail, however much worse B was: at least 15 pairs are needed", TooLittleTime},
		"primary metrics alone": {func() Request { q := equal(10); q.SecondaryOff = true; return q }, exit.Pass, "", ""},
		"CPU that B spends later": {func() Request {
			q := equal(12)
			for side, runs := range [][]Measured{q.A, q.B} {
				each(runs, func(_ int, m *Measured) {
					whole := m.Result.Processes[0].CPUS * []float64{1.05, 2.5}[side]
					m.Result.CPU = &result.WindowCPU{WindowS: 3, QuietS: 1, SystemS: whole, QuietSystemS: whole / 2}
				})
			}
			return q
		}, exit.Fail, "CPU per operation is worse by more than 10 %: +14", ""},
		"no validity": {func() Request { q := equal(12); q.B[2].Result.Validity = nil; return q },
			exit.Inconclusive, "b3: no validity check ran", IsMissing},
		"a validity that knows nothing": {func() Request {
			q := equal(12)
			each(q.B, func(_ int, m *Measured) { m.Result.Validity = []result.Validity{{Check: "complete"}} })
			return q
		}, exit.Inconclusive, "no validity check ran", IsMissing},
		"a pair is not there": {func() Request { q := equal(13); q.Planned, q.Made = 0, 13; q.A, q.B = q.A[:12], q.B[:12]; return q },
			exit.Inconclusive, "there is no run of B in pair 13", IsMissing},
		"a run is not there": {func() Request { q := equal(13); q.B = append(q.B[:5:5], q.B[6:]...); return q },
			exit.Inconclusive, "there is no run of B in pair 6", IsMissing},
		"a baseline: equal": {func() Request { return byABaseline(equal(12)) }, exit.Pass, "", ""},
		"a baseline: CPU is missing": {func() Request { q := byABaseline(equal(12)); q.B[0].Result.Processes = nil; return q },
			exit.Inconclusive, "CPU per operation was not measured in b1", IsMissing},
		"a baseline: throughput is missing": {func() Request {
			q := byABaseline(equal(12))
			q.B[0].Result.Operations[0].Transfer.MbitPerS = nil
			return q
		},
			exit.Inconclusive, "TCP throughput was not measured in b1", IsMissing},
		"a baseline: latencies are missing": {func() Request { q := byABaseline(equal(12)); q.B[0].Result.Operations[0].LatencyMS = nil; return q },
			exit.Inconclusive, "not every success has a latency", IsMissing},
		"a baseline: every payload is corrupted": {func() Request { q := byABaseline(equal(12)); corruptsAll(0, &q.B[0]); return q },
			exit.Fail, "had an operation without any success in 1 of 1 runs", ""},
		"a baseline: too few runs were kept": {func() Request { q := byABaseline(equal(12)); q.A, q.WorseBy = q.A[:2], 80; return q },
			exit.Inconclusive, "secondary metrics cannot be judged by 2 kept runs: keep 4 or more", TooLittleTime},
	} {
		found := Make(c.make())
		valid(t, found)
		reasons := strings.Join(found.Reasons, "\n")
		if found.ExitCode() != c.code || !strings.Contains(reasons, c.says) || found.Doubt != c.kind {
			t.Errorf("%s: %s, %s:\n%s", name, found.Verdict, found.Doubt, reasons)
		}
	}
}

func TestCopiedRunsAreRefused(t *testing.T) {
	for name, edit := range map[string]func(q *Request){
		"copied in place":  func(q *Request) { each(q.B, func(_ int, m *Measured) { m.Result = q.B[0].Result }) },
		"on both sides":    func(q *Request) { q.B[3].Result = q.A[3].Result },
		"with another id":  func(q *Request) { r := *q.B[0].Result; r.Run.ID = "other"; q.B[1].Result = &r },
		"the same id only": func(q *Request) { q.B[1].Result.Run.ID = q.A[0].Result.Run.ID },
	} {
		q := pairsOf(12, noise(1), noise(2))
		if why := Refusal(q.A, q.B, noBeds); why != "" {
			t.Fatal(why)
		}
		edit(&q)
		if why := Refusal(q.A, q.B, noBeds); !strings.Contains(why, "once") && !strings.Contains(why, "copy") || strings.Contains(why, "\n") {
			t.Errorf("%s: %q", name, why)
		}
	}
}
