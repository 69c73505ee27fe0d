// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/result"
)

func TestKnownShiftIsFound(t *testing.T) {
	c := Make(pairsOf(12, noise(1), times(1.3, noise(2))))
	valid(t, c)
	if c.Verdict != Fail || c.ExitCode() != exit.Fail || !c.Interleaved {
		t.Errorf("%s %v %v", c.Verdict, c.Reasons, c.Interleaved)
	}
	for name, better := range map[string]bool{"p50": false, "p95": false, "avg": false, "mbit_per_s": true} {
		m := c.rowOf(t, "tcp", name)
		change := m.Change.Estimate
		if better {
			change = (1/(1+change/100) - 1) * 100
		}
		if m.Judgement != Worse || !m.Gate || m.Outcome != "beyond" || change < 25 || change > 35 || *m.P > 0.001 || !m.Change.Paired {
			t.Errorf("%s: %+v %+v", name, m, m.Change)
		}
	}
	if m := c.rowOf(t, "tcp", "mbit_per_s"); m.Role != Primary || m.Change.Estimate > -20 || *m.Change.Lo > *m.Change.Hi {
		t.Errorf("%+v %+v", m, m.Change)
	}
	if m := c.rowOf(t, "", "peak_anon_bytes"); m.Judgement != NoneFound || m.Change.Estimate != 0 || m.Outcome != "within" {
		t.Errorf("%+v", m)
	}
	if m := c.rowOf(t, "", "cpu_us_per_operation"); m.Role != Primary || m.Judgement != Worse || m.A.Median < 90 || m.A.Median > 110 {
		t.Errorf("%+v", m) // 0.2 s for 2,000 operations without controls
	}
	if m := c.rowOf(t, "tcp_direct", "p50"); m.Judgement != NotJudged || !m.Control || m.Role != Shown {
		t.Errorf("%+v", m)
	}
	for _, m := range c.Metrics {
		if m.Name == "rate_per_s" || m.Name == "lost" {
			t.Errorf("%s is there", m.Name)
		}
	}
	text := c.Markdown()
	for _, part := range []string{"**Verdict: ✗ fail**", "| TCP P95 (ms) | ", "| worse, beyond the bound |", "## Controls", "queue=64", "pair:queue=128", "+2", "<0.001",
		"pair:queue=128 is 22 % slower than pair: -23 to -21 %", "96 % interval"} {
		if !strings.Contains(text, strings.ReplaceAll(part, "<", "&lt;")) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if says := c.Summary(); !strings.HasSuffix(says, "verdict: fail, by 12 pairs in 24.0 s\n") {
		t.Errorf("%s", says)
	}
	if strings.Contains(text, "socks_port") {
		t.Error("shows a port")
	}
}

func TestBetterPasses(t *testing.T) {
	c := Make(pairsOf(12, noise(3), times(0.7, noise(4))))
	valid(t, c)
	if c.ExitCode() != exit.Pass || c.rowOf(t, "tcp", "p99").Judgement != Better || c.rowOf(t, "tcp", "mbit_per_s").Judgement != Better {
		t.Errorf("%s %v", c.Verdict, c.Reasons)
	}
	if !strings.HasPrefix(c.Headline, "pair:queue=128 is 42 % faster than pair: +") {
		t.Error(c.Headline)
	}
}

func TestSmallShiftIsWorseButPasses(t *testing.T) {
	q := pairsOf(12, noise(5), times(1.05, noise(6)))
	c := Make(q)
	if m := c.rowOf(t, "tcp", "p50"); m.Judgement != Worse || m.Gate || c.ExitCode() != exit.Pass {
		t.Errorf("%+v %v", m, c.Reasons)
	}
	q.WorseBy = 2
	if c := Make(q); c.ExitCode() != exit.Fail {
		t.Errorf("%v", c.Reasons)
	}
}

// TestDriftHidesNoSlowDown is a machine that drifts by 1.6 over ten pairs; in each pair B is 15 % slower. Without the
// pairs, the runs of each side are so far apart that a rank-sum test finds nothing.
func TestDriftHidesNoSlowDown(t *testing.T) {
	drift := func(slower float64, seed uint64) func(int) float64 {
		small := noise(seed)
		return func(i int) float64 { return math.Pow(1.6, float64(i-1)/9) * slower * (1 + (small(i)-1)/6) }
	}
	c := Make(pairsOf(10, drift(1, 1), drift(1.15, 2)))
	valid(t, c)
	m := c.rowOf(t, "tcp", "mbit_per_s")
	if c.ExitCode() != exit.Fail || m.worse(-math.Log1p(m.Change.Estimate/100)) < 14 || *m.Change.Hi > -12 {
		t.Errorf("%s %v %+v", c.Verdict, c.Reasons, m.Change)
	}
}

// TestAbsenceOfEvidenceIsNoPass: with a deviation of 15 % between runs, ten pairs cannot distinguish 15 % from 0, and
// the comparison says so.
func TestAbsenceOfEvidenceIsNoPass(t *testing.T) {
	rough := func(seed uint64) func(int) float64 {
		source := rand.New(rand.NewPCG(seed, 1))
		return func(int) float64 { return math.Exp(0.15 * source.NormFloat64()) }
	}
	passed, told := 0, 0
	for seed := range uint64(100) {
		c := Make(pairsOf(10, rough(2*seed), times(1.15, rough(2*seed+1))))
		if c.ExitCode() == exit.Pass {
			passed++
		}
		if c.ExitCode() == exit.Inconclusive && strings.Contains(strings.Join(c.Reasons, "\n"), "or more would have been detected") {
			told++
		}
	}
	if passed > 5 || told < 40 {
		t.Errorf("%d of 100 pass, %d say what they could tell", passed, told)
	}
}

// TestMoreWorkIsNoRegression: if time bounds the run, a candidate with a third more operations at the same CPU per
// operation uses a third more CPU in total, and memory for the additional operations.
func TestMoreWorkIsNoRegression(t *testing.T) {
	q := pairsOf(12, noise(5), times(0.75, noise(6)))
	for i := range q.B {
		r := q.B[i].Result
		r.Operations[0].Requests, r.Operations[0].WindowS = 2667, r.Operations[0].WindowS*2667/2000
		r.Operations[0].Success, r.Operations[0].Transfer.Bytes, r.Operations[0].LatencyMS.Count = 2667, 2667*1024, 2667
		r.Processes[0].CPUS, r.Processes[0].PeakAnonBytes = q.A[i].Result.Processes[0].CPUS*4/3, new(int64(66<<20))
	}
	c := Make(q)
	valid(t, c)
	if c.ExitCode() != exit.Pass {
		t.Errorf("%s %v", c.Verdict, c.Reasons)
	}
	if m := c.rowOf(t, "", "cpu_s"); m.Role != Shown || m.Judgement != Worse || m.Gate {
		t.Errorf("%+v", m)
	}
	if m := c.rowOf(t, "", "peak_anon_bytes"); m.Role != Secondary || m.Judgement != Worse || m.Gate {
		t.Errorf("%+v", m)
	}
	// Ten times the memory is more than a third more operations could explain.
	for i := range q.B {
		q.B[i].Result.Processes[0].PeakAnonBytes = new(int64(500 << 20))
	}
	if c := Make(q); c.Verdict != Fail || !strings.Contains(strings.Join(c.Reasons, "\n"), "total peak own memory is worse") {
		t.Errorf("%s %v", c.Verdict, c.Reasons)
	}
}

// TestEqualNoise has many comparisons of equal sides: the gate never breaks, and metrics differ only as rarely as the
// level 0.05 allows.
func TestEqualNoise(t *testing.T) {
	differs := 0
	for seed := range uint64(200) {
		c := Make(pairsOf(11, noise(1000+2*seed), noise(1001+2*seed)))
		if c.ExitCode() != exit.Pass {
			t.Errorf("seed %d: %v", seed, c.Reasons)
		}
		if c.rowOf(t, "tcp", "p50").Judgement != NoneFound {
			differs++
		}
	}
	if differs > 22 { // 10 expected
		t.Errorf("%d of 200 differ", differs)
	}
}

// TestSeveralOperationsHaveOneMean: the geometric mean of three rows is primary, the rows are not.
func TestSeveralOperationsHaveOneMean(t *testing.T) {
	q := pairsOf(12, noise(1), noise(2))
	for _, runs := range [][]Measured{q.A, q.B} {
		for i := range runs {
			r := runs[i].Result
			r.Operations = append(r.Operations, operation("big", 4), operation("open", 1))
			r.Operations[len(r.Operations)-1].Loop = "open"
		}
	}
	c := Make(q)
	valid(t, c)
	m := c.rowOf(t, "", meanSpeed)
	if m.Role != Primary || m.Title != "throughput, geometric mean of 2 operations" || m.A.Median < 3.8 || m.A.Median > 4.3 {
		t.Errorf("%+v", m) // 8.192 and 2.048
	}
	if c.rowOf(t, "big", "mbit_per_s").Role != Secondary || c.Metrics[0].Name != meanSpeed {
		t.Errorf("%+v", c.Metrics[0])
	}
	// An open loop alone has a fixed rate, so its P50 decides.
	q = pairsOf(12, noise(1), noise(2))
	for _, runs := range [][]Measured{q.A, q.B} {
		for i := range runs {
			runs[i].Result.Operations[0].Loop, runs[i].Result.Operations[0].Transfer = "open", nil
		}
	}
	if c := Make(q); c.rowOf(t, "tcp", "p50").Role != Primary || c.rowOf(t, "tcp", "rate_per_s").Role != Shown {
		t.Errorf("%+v", c.Metrics)
	}
	// A scenario with its own pace has a fixed rate, so it names the deciding metric.
	q = pairsOf(12, noise(1), noise(2))
	for _, runs := range [][]Measured{q.A, q.B} {
		for i := range runs {
			r := runs[i].Result
			r.Operations[0].Primary = "p50"
			r.Operations = append(r.Operations, operation("publish", 1))
		}
	}
	if c := Make(q); c.rowOf(t, "tcp", "p50").Role != Primary || c.rowOf(t, "tcp", "mbit_per_s").Role != Secondary || c.Metrics[0].Name != "p50" {
		t.Errorf("%+v", c.Metrics[0])
	}
}

func TestTooFewRuns(t *testing.T) {
	for n, says := range map[int]string{1: "one run each: no confidence", 3: "too few runs: 3 of A and 3 of B", 5: "needs 6 of each"} {
		c := Make(pairsOf(n, noise(7), times(5, noise(8))))
		valid(t, c)
		if c.ExitCode() != exit.Inconclusive || !strings.Contains(strings.Join(c.Reasons, "\n"), says) {
			t.Errorf("%d: %s %v", n, c.Verdict, c.Reasons)
		}
		if m := c.rowOf(t, "tcp", "p50"); m.Judgement != NotJudged || m.Change == nil {
			t.Errorf("%d: %+v", n, m)
		}
	}
	// Six pairs can show that nothing is worse, but they cannot break the gate.
	if c := Make(pairsOf(6, noise(7), times(5, noise(8)))); c.ExitCode() != exit.Inconclusive || !strings.Contains(strings.Join(c.Reasons, "\n"), "about 4 more pairs would decide") {
		t.Errorf("six: %v", c.Reasons)
	}
	if c := Make(pairsOf(6, noise(7), noise(8))); c.ExitCode() != exit.Inconclusive || c.Doubt != TooLittleTime || !strings.Contains(strings.Join(c.Reasons, "\n"), "primary metrics to fail, however much worse B was: at least 10 pairs are needed") {
		t.Errorf("six: %v", c.Reasons)
	}
}

func TestRunsThatCannotBeUsed(t *testing.T) {
	no := false
	spoil := map[string]func(*Measured){
		"no result":    func(m *Measured) { m.Result, m.Outcome, m.Reasons = nil, "set-up failed", []string{"port taken"} },
		"inconclusive": func(m *Measured) { m.Outcome, m.Reasons = "inconclusive", []string{"generator CPU"} },
		"a failed run whose numbers are invalid": func(m *Measured) {
			m.Outcome = "fail"
			m.Result.Validity = []result.Validity{{Check: "processes", OK: &no, Detail: "gone"}}
		},
	}
	for name, change := range spoil {
		q := pairsOf(12, noise(9), times(1.3, noise(10)))
		change(&q.A[2])
		change(&q.A[3])
		c := Make(q)
		valid(t, c)
		if c.Verdict != Fail || len(c.rowOf(t, "tcp", "p50").A.Values) != 10 || c.rowOf(t, "tcp", "p50").Change.Pairs != 10 {
			t.Errorf("%s: %s %v", name, c.Verdict, c.Reasons)
		}
		if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, "a3, a4 of A: ") {
			t.Errorf("%s: %s", name, notes)
		}
		change(&q.A[5])
		c = Make(q)
		if c.ExitCode() != exit.Inconclusive || !strings.Contains(strings.Join(c.Reasons, ""), "9 of the 12 runs of A can be used; at least 80 % is needed") {
			t.Errorf("%s: %v", name, c.Reasons)
		}
	}
	// A run that crossed a threshold is still used.
	q := pairsOf(12, noise(9), times(1.3, noise(10)))
	for i := range q.B {
		q.B[i].Outcome, q.B[i].Reasons = "fail", []string{"p(95)<1"}
	}
	if c := Make(q); c.Verdict != Fail || !slices.Contains(c.Notes, "b1 and 11 more runs of B: used although it failed: p(95)<1") {
		t.Errorf("%s %v", c.Verdict, c.Notes)
	}
	none := Make(Request{A: []Measured{{File: "a"}}, B: nil, Beds: noBeds})
	valid(t, none)
	if none.ExitCode() != exit.Inconclusive {
		t.Error(none.Verdict)
	}
}

// drifting makes pairs in which B is slower, and so is its control. With apart, all runs of B came after those of A.
func drifting(apart bool) Request {
	q := pairsOf(10, noise(11), times(1.3, noise(12)))
	for i := range q.B {
		r := q.B[i].Result
		r.Operations[1] = operation("tcp_direct", 1.25*noise(uint64(i))(0))
		if apart {
			r.Run.Start, r.Run.End = r.Run.Start.Add(time.Hour), r.Run.End.Add(time.Hour)
		}
	}
	return q
}

func TestAControlThatDriftsWithTheMachine(t *testing.T) {
	c := Make(drifting(true))
	if c.ExitCode() != exit.Inconclusive || !strings.Contains(strings.Join(c.Reasons, "\n"), "the machine changed, not the proxy") {
		t.Errorf("%s %v", c.Verdict, c.Reasons)
	}
	// A drift of the machine cannot explain 90 times the memory.
	q := drifting(true)
	for i := range q.B {
		q.B[i].Result.Processes[0].PeakAnonBytes = new(int64(4500 << 20))
	}
	c = Make(q)
	if reasons := strings.Join(c.Reasons, "\n"); c.Verdict != Fail || !strings.Contains(reasons, "total peak own memory is worse") ||
		!strings.Contains(c.Headline, "total peak own memory +8900") {
		t.Errorf("%q %s %v", c.Headline, c.Verdict, c.Reasons)
	}
	if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, "the machine changed, not the proxy") {
		t.Error(notes)
	}
}

func TestAControlThatMovesWithTheSideIsTheSidesDoing(t *testing.T) {
	q := drifting(false)
	for i := range q.A {
		q.A[i].Result.Rest = []result.Rest{{Name: "proxy", After: &result.AtRest{CPUPercent: 0.2}}}
		q.B[i].Result.Rest = []result.Rest{{Name: "proxy", After: &result.AtRest{CPUPercent: 99}}}
	}
	c := Make(q)
	notes := strings.Join(c.Notes, "\n")
	if c.Verdict != Fail || !strings.Contains(notes, "one side affects other programs") || !strings.Contains(notes, "uses 0 % of a CPU on A and 99 % on B") {
		t.Errorf("%s %v %s", c.Verdict, c.Reasons, notes)
	}
}

func TestLostDatagrams(t *testing.T) {
	// Only a loss shows that the second operation sends datagrams.
	for _, name := range []string{"udp", "value"} {
		lossy := func(m *Measured, lost int64) {
			m.Result.Operations[0] = operation(name, 1)
			if lost > 0 {
				m.Result.Operations[0] = withErrors(operation(name, 1), "lost", lost)
			}
		}
		for lost, want := range map[int64]int{10: exit.Pass, 100: exit.Fail} { // of 2,000: 0.5 and 5 points; the gate is 1
			q := pairsOf(12, noise(13), noise(14))
			for i := range q.A {
				lossy(&q.A[i], 0)
				lossy(&q.B[i], lost+int64(i))
			}
			c := Make(q)
			valid(t, c)
			if m := c.rowOf(t, name, "lost"); m.Judgement != Worse || m.Change.Unit != "points" || c.ExitCode() != want {
				t.Errorf("%s, %d: %+v %v", name, lost, m, c.Reasons)
			}
		}
	}
}

func TestInterruptedIsMarked(t *testing.T) {
	q := pairsOf(7, noise(15), times(1.3, noise(16)))
	q.Planned, q.Interrupted = 10, true
	c := Make(q)
	valid(t, c)
	if c.ExitCode() != exit.Interrupted || !strings.Contains(c.Markdown(), "interrupted after 7 pairs") {
		t.Errorf("%v", c.Reasons)
	}
	if m := c.rowOf(t, "tcp", "p50"); m.Judgement != Worse {
		t.Errorf("%+v", m)
	}
}

// TestADifferenceIsNamedOnlyWhereTheShownIntervalLeavesOutZero: for twelve pairs whose negative ranks add up to 13, p is
// 0.042, and the interval of 96 % includes 0.
func TestADifferenceIsNamedOnlyWhereTheShownIntervalLeavesOutZero(t *testing.T) {
	ranks := func(negative ...int) func(int) float64 {
		return func(i int) float64 {
			if slices.Contains(negative, i) {
				return math.Exp(float64(-i) / 200)
			}
			return math.Exp(float64(i) / 200)
		}
	}
	same := func(int) float64 { return 1 }
	for _, c := range []struct {
		a, b     func(int) float64
		says     string
		headline string
	}{
		{same, ranks(6, 7), NoneFound, "is as fast as"},
		{ranks(6, 7), same, NoneFound, "is as fast as"},
		{same, ranks(5, 7), Worse, "% slower than"},
		{ranks(5, 7), same, Better, "% faster than"},
	} {
		found := Make(pairsOf(12, c.a, c.b))
		m := found.rowOf(t, "tcp", "mbit_per_s")
		includes := *m.Change.Lo <= 0 && *m.Change.Hi >= 0
		if m.Judgement != c.says || includes != (c.says == NoneFound) || *m.P > 0.05 || !strings.Contains(found.Headline, c.headline) {
			t.Errorf("%s: %q, p %g, %g to %g", m.Judgement, found.Headline, *m.P, *m.Change.Lo, *m.Change.Hi)
		}
	}
}

func TestRunsThatDidNotTakeTurns(t *testing.T) {
	late := func(factor float64) Comparison {
		q := pairsOf(10, noise(17), times(factor, noise(18)))
		for i := range q.B {
			q.B[i].Result.Run.Start = q.B[i].Result.Run.Start.Add(time.Hour)
		}
		return Make(q)
	}
	c := late(1.6)
	if c.Interleaved || c.ExitCode() != exit.Fail || c.rowOf(t, "tcp", "p50").Change.Paired {
		t.Errorf("%+v", c.Reasons)
	}
	// The machine may have changed by 10 %, so B may be slower by this much.
	for _, factor := range []float64{1, 1.08} {
		c = late(factor)
		if m := c.rowOf(t, "tcp", "mbit_per_s"); m.Judgement != NoneFound || m.Outcome != "unclear" || c.ExitCode() != exit.Inconclusive {
			t.Errorf("%g: %+v", factor, m)
		}
	}
	if c := late(0.7); c.ExitCode() != exit.Pass {
		t.Errorf("%v", c.Reasons)
	}
}

func TestOrderOfPairs(t *testing.T) {
	first := [2]int{}
	for pair := 1; pair <= 100; pair++ {
		of := order(pair, difference.Lot("x"))
		first[of[0]]++
		if of[0] == of[1] || of != order(pair, difference.Lot("x")) {
			t.Errorf("%v", of)
		}
	}
	if first[0] < 30 || first[1] < 30 {
		t.Errorf("%v", first)
	}
	q := pairsOf(4, noise(1), noise(2))
	if !interleaved(q.A, q.B) {
		t.Error("not seen as taking turns")
	}
	q.A[1].Result.Run.Start = q.A[1].Result.Run.Start.Add(time.Hour)
	if interleaved(q.A, q.B) {
		t.Error("seen as taking turns")
	}
}
