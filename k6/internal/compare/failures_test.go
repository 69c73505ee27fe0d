// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// TestFailuresAreEvidence has candidates that are as fast as the baseline and fail in one way or another.
func TestFailuresAreEvidence(t *testing.T) {
	no := false
	died := func(m *Measured) {
		m.Outcome = "inconclusive"
		m.Result.Validity = []result.Validity{{Check: "processes", OK: &no, Detail: "proxy ended in mid-run (signal 9)"}}
	}
	notStarted := func(m *Measured) {
		m.Result, m.Outcome, m.Cause, m.Reasons = nil, "set-up failed", run.OfTestbed, []string{"testbed pair: the proxy ended at once"}
	}
	notSetUp := func(m *Measured) {
		m.Result, m.Outcome, m.Cause, m.Reasons = nil, "set-up failed", run.OfSetUp, []string{"it carries no TCP"}
	}
	withoutResult := func(m *Measured) { m.Result, m.Outcome = nil, "inconclusive" }
	killed := func(m *Measured) {
		m.Result, m.Outcome, m.Cause, m.Reasons = nil, "set-up failed", run.OfBench, []string{"k6 was killed and wrote no result"}
	}
	// The sidecar ends, and so does the testbed: the partial result says that its processes ended.
	sidecarEnded := func(m *Measured) {
		died(m)
		m.Outcome, m.Cause = "set-up failed", run.OfBench
	}
	wrong := func(kind string, n int64) func(*Measured) {
		return func(m *Measured) {
			m.Outcome = "fail"
			m.Result.Operations[0] = withErrors(m.Result.Operations[0], kind, n)
		}
	}
	lostUsers := func(m *Measured) {
		m.Outcome = "fail"
		m.Result.Integrity = []result.Integrity{{Check: "users", Reported: new(int64(500)), Found: new(int64(480)), OK: &no}}
	}
	cutOff := func(m *Measured) {
		m.Outcome = "inconclusive"
		m.Result.Validity = []result.Validity{{Check: "complete", OK: &no, Detail: "700 of 1000 iterations: ended early"}}
	}
	cutByANeighbour := func(m *Measured) {
		cutOff(m)
		m.Result.Validity = append(m.Result.Validity, result.Validity{Check: "generator CPU", OK: &no, Detail: "a neighbour"})
	}
	busy := func(m *Measured) {
		m.Outcome = "inconclusive"
		m.Result.Validity = []result.Validity{{Check: "generator CPU", OK: &no, Detail: "a neighbour"}}
	}
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}
	for name, c := range map[string]struct {
		spoil func(*Measured)
		a, b  []int // spoilt runs
		code  int
		says  string
	}{
		"its process dies in 2 of 14":     {died, nil, []int{2, 7}, exit.Fail, "B fails more: one of its processes ended in 2 of 14 runs of B and 0 of 14 runs of A"},
		"its process dies once":           {died, nil, []int{2}, exit.Inconclusive, "in 1 of 14 runs of B and 0 of 14 runs of A; this may be chance, but the comparison cannot pass"},
		"both die once":                   {died, []int{5}, []int{2}, exit.Pass, ""},
		"the baseline dies once":          {died, []int{5}, nil, exit.Pass, ""},
		"it does not start in 2 of 14":    {notStarted, nil, []int{3, 4}, exit.Fail, "did not start in 2 of 14 runs"},
		"its set-up fails in 2 of 14":     {notSetUp, nil, []int{3, 4}, exit.Fail, "failed its set-up in 2 of 14 runs"},
		"2 of 10 have no result":          {withoutResult, nil, []int{3, 4}, exit.Fail, "has no result in 2 of 14 runs"},
		"k6 is killed in 2 of B's 14":     {killed, nil, []int{3, 4}, exit.Inconclusive, "b4, b5: no result, so it is unknown whether B failed"},
		"the sidecar ends in 2 of 14":     {sidecarEnded, nil, []int{3, 4}, exit.Pass, ""},
		"it never starts":                 {notStarted, nil, all, exit.Fail, "did not start in 14 of 14 runs"},
		"0.75 % corrupted in every run":   {wrong("wrong payload", 15), nil, all, exit.Fail, "B fails more: wrong payload in 210 of 28,000 operations of B and 0 of 28,000 operations of A"},
		"0.75 % corrupted in 3 runs":      {wrong("wrong payload", 15), nil, all[:3], exit.Inconclusive, "wrong payload in 45 of 28,000 operations"},
		"as many time-outs on both sides": {wrong("timeout", 3), all, all, exit.Pass, ""},
		"one time-out more than A's":      {wrong("timeout", 3), all[:4], all[:5], exit.Pass, ""},
		"fewer time-outs":                 {wrong("timeout", 3), all, nil, exit.Pass, ""},
		"480 of 500 users in every run":   {lostUsers, nil, all, exit.Fail, "B fails more: failed its integrity check in 14 of 14 runs"},
		"it is cut in 2 of 14":            {cutOff, nil, []int{0, 9}, exit.Fail, "was cut in 2 of 14 runs"},
		"it falls silent in 2 of 14": {func(m *Measured) {
			cutByANeighbour(m)
			m.Outcome = "fail"
			m.Result.Validity = append(m.Result.Validity, result.Validity{Check: "target", OK: &no, Detail: "it answered nothing for 10 s"})
		}, nil, []int{0, 9}, exit.Fail, "stopped answering in 2 of 14 runs"},
		"a neighbour cuts it in 2 of 14":     {cutByANeighbour, nil, []int{0, 9}, exit.Inconclusive, "this may be chance, but the comparison cannot pass (2 of B in runs that the machine disturbed)"},
		"the machine is busy in 2 of B's":    {busy, nil, []int{0, 9}, exit.Pass, ""},
		"the machine is busy in 3 of B's":    {busy, nil, []int{0, 5, 9}, exit.Inconclusive, "11 of the 14 runs of B can be used"},
		"a control's errors are not the B's": {func(m *Measured) { m.Result.Operations[1].Errors = map[string]int64{"timeout": 9} }, nil, all, exit.Pass, ""},
	} {
		q := pairsOf(14, noise(31), noise(32))
		for _, i := range c.a {
			c.spoil(&q.A[i])
		}
		for _, i := range c.b {
			c.spoil(&q.B[i])
		}
		made := Make(q)
		valid(t, made)
		reasons := strings.Join(made.Reasons, "\n")
		if made.ExitCode() != c.code || !strings.Contains(reasons, c.says) {
			t.Errorf("%s: %s: %s", name, made.Verdict, reasons)
		}
		if slices.ContainsFunc(made.Failures, func(f Failure) bool { return f.Outcome != "within" }) == (c.code == exit.Pass) && !strings.Contains(c.says, "can be used") && !strings.Contains(c.says, "it is unknown") {
			t.Errorf("%s: %+v", name, made.Failures)
		}
	}
}

// TestOneCauseIsOneLine: the figures of the cause differ in each run.
func TestOneCauseIsOneLine(t *testing.T) {
	no := false
	q := pairsOf(12, noise(1), noise(2))
	for i := range q.A {
		q.A[i].Outcome = "inconclusive"
		q.A[i].Result.Validity = []result.Validity{{Check: "generator CPU", OK: &no, Detail: q.A[i].File}}
	}
	c := Make(q)
	others := slices.DeleteFunc(slices.Clone(c.Notes), func(note string) bool { return strings.HasPrefix(note, "unknown is") })
	if want := []string{"a1 and 11 more runs of A: left out because the measurement, not the system, failed: generator CPU: a1"}; !slices.Equal(others, want) {
		t.Errorf("%q", c.Notes)
	}
	if want := []string{"only 0 of the 12 runs of A can be used; at least 80 % is needed: generator CPU: a1"}; !slices.Equal(c.Reasons, want) {
		t.Errorf("%q", c.Reasons)
	}
}

// TestEndOfASeries has comparisons that run until they know, fed with pairs.
func TestEndOfASeries(t *testing.T) {
	no := false
	auto := Length{Most: 1}
	feed := func(all Request, length Length, spoil func(i int, a, b *Measured)) (pairs int, q Request) {
		q = all
		q.A, q.B, q.Planned = nil, nil, length.Pairs
		for i := range all.A {
			a, b := all.A[i], all.B[i]
			spoil(i, &a, &b)
			q.A, q.B = append(q.A, a), append(q.B, b)
			if q.decided(length) {
				break
			}
		}
		pairs = len(q.A)
		q.end(length)
		return pairs, q
	}
	nothing := func(int, *Measured, *Measured) {}
	busy := func(i int, a, _ *Measured) {
		if i == 1 || i == 4 {
			a.Outcome = "inconclusive"
		}
	}
	dies := func(i int, _, b *Measured) {
		if i > 0 {
			r := *b.Result
			r.Validity = []result.Validity{{Check: "processes", OK: &no, Detail: "proxy ended"}}
			b.Result = &r
		}
	}
	rough := func(seed uint64) func(int) float64 {
		of := noise(seed)
		return func(i int) float64 { return 1 + 10*(of(i)-1) }
	}
	for name, c := range map[string]struct {
		all         Request
		length      Length
		spoil       func(i int, a, b *Measured)
		pairs, look int
		verdict     string
	}{
		"equal":                  {pairsOf(40, noise(1), noise(2)), auto, nothing, 12, 1, Pass},
		"slower":                 {pairsOf(40, noise(1), times(1.3, noise(2))), auto, nothing, 12, 1, Fail},
		"noisy":                  {pairsOf(20, rough(3), rough(4)), auto, nothing, 20, 3, Inconclusive},
		"the machine disturbs 2": {pairsOf(40, noise(1), noise(2)), auto, busy, 14, 1, Pass},
		"B dies":                 {pairsOf(40, noise(1), noise(2)), auto, dies, 3, 1, Fail},
		"mostly disturbed": {pairsOf(40, noise(1), noise(2)), auto, func(i int, a, _ *Measured) {
			if i%3 > 0 {
				a.Outcome = "inconclusive"
			}
		}, 12, 1, Inconclusive},
		"twelve":            {pairsOf(40, noise(1), noise(2)), Length{Pairs: 12}, nothing, 12, 0, Pass},
		"twelve, disturbed": {pairsOf(40, noise(1), noise(2)), Length{Pairs: 12}, busy, 14, 0, Pass},
		"one, no spare":     {pairsOf(40, noise(1), noise(2)), Length{Pairs: 1}, func(_ int, a, _ *Measured) { a.Outcome = "inconclusive" }, 1, 0, Inconclusive},
		"one, two spare":    {pairsOf(40, noise(1), noise(2)), Length{Pairs: 1, Spare: 2}, func(_ int, a, _ *Measured) { a.Outcome = "inconclusive" }, 3, 0, Inconclusive},
		"ten, B dies":       {pairsOf(40, noise(1), noise(2)), Length{Pairs: 10}, dies, 10, 0, Fail},
	} {
		pairs, q := feed(c.all, c.length, c.spoil)
		made := Make(q)
		valid(t, made)
		if c.look > 1 && !strings.HasPrefix(q.lookText, "18 pairs of : inconclusive: ") {
			t.Errorf("%s: told %q", name, q.lookText)
		}
		if pairs != c.pairs || made.Looks != c.look || made.Verdict != c.verdict {
			t.Errorf("%s: %d pairs, look %d, %s %v", name, pairs, made.Looks, made.Verdict, made.Reasons)
		}
	}
	always := func(_ int, a, _ *Measured) { a.Outcome = "inconclusive" }
	if pairs, _ := feed(pairsOf(40, noise(1), noise(2)), Length{Pairs: 10}, always); pairs != 15 {
		t.Errorf("a machine that always disturbs: %d pairs", pairs)
	}
}
