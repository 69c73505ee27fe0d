// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/result"
)

// The laws of comparisons, for generated runs with random edits:
//
//   - removing evidence never turns 3 or 99 into 0;
//   - worsening B never improves the verdict;
//   - swapping A and B never gives two passes if one side is beyond the bound;
//   - permuting the runs changes nothing.
var lawCases = flag.Int("laws", 500, "cases of each kind in which the laws of comparisons are tried; docs/benchmarks.md has a run of 100,000")

// made is a comparison before any edit, with random properties.
type made struct {
	Request
	random *rand.Rand
	seed   uint64 // of ofCase
}

// draw makes a random comparison: the difference of its sides, its noise, its number of pairs, failures and
// disturbances.
func draw(random *rand.Rand, kept bool) made {
	n := []int{6, 9, 11, 12, 13, 15, 18, 20}[random.IntN(8)]
	cv := []float64{0.005, 0.02, 0.05, 0.1}[random.IntN(4)]
	shift := []float64{0, 0, 0, 0.03, 0.08, 0.15, 0.3, -0.3}[random.IntN(8)]
	of := func(shift float64) func(int) float64 {
		return func(int) float64 { return math.Exp(shift + cv*random.NormFloat64()) }
	}
	q := pairsOf(n, of(0), of(shift))
	m := made{Request: q, random: random}
	for _, runs := range [][]Measured{m.A, m.B} {
		for i := range runs {
			m.dress(runs[i].Result, 1)
		}
	}
	if random.IntN(3) == 0 {
		worse := []float64{1.05, 1.3, 3, 100}[random.IntN(4)]
		for i := range m.B {
			total := &m.B[i].Result.Processes[0]
			total.PeakAnonBytes = new(int64(float64(*total.PeakAnonBytes) * worse))
		}
	}
	if random.IntN(3) == 0 {
		m.fail(&m.B[random.IntN(n)], []string{"timeout", "corrupted"}[random.IntN(2)], 1+int64(random.IntN(50)))
	}
	for random.IntN(4) == 0 {
		m.spoil(&[][]Measured{m.A, m.B}[random.IntN(2)][random.IntN(n)])
	}
	m.Made, m.Planned = n, 0
	if kept {
		m.A, m.B, m.Kept, m.Made, m.WorseBy = m.A[:max(4, n/2)], m.B[:1], true, 0, 30
		for _, runs := range [][]Measured{m.A, m.B} {
			for i := range runs {
				runs[i].Pair = 0
			}
		}
	}
	return m
}

// dress adds the parts of a real result: CPU to the end of a quiet period, and several checks.
func (m made) dress(r *result.Result, factor float64) {
	yes := true
	total := r.Processes[0].CPUS * factor
	r.CPU = &result.WindowCPU{WindowS: 4, QuietS: 1, SystemS: total * 1.1, QuietSystemS: total * 0.1}
	r.Validity = []result.Validity{{Check: "complete", OK: &yes}, {Check: "processes", OK: &yes}, {Check: "generator CPU", OK: &yes},
		{Check: "neighbours", OK: &yes}, {Check: "samples: tcp", OK: &yes}}
	r.Integrity = []result.Integrity{{Check: "far end: tcp", Reported: new(int64(2000)), Found: new(int64(2000)), OK: &yes}}
}

// fail makes some requests of a run fail.
func (m made) fail(run *Measured, kind string, n int64) {
	op := run.Result.Operations[0]
	if op.Success <= n {
		n = op.Success
	}
	errors := map[string]int64{kind: n}
	for k, v := range op.Errors {
		errors[k] += v
	}
	run.Result.Operations[0] = withSuccesses(op, op.Success-n)
	run.Result.Operations[0].Errors = errors
	run.Outcome = "fail"
}

// spoil marks a run as disturbed by a neighbour.
func (m made) spoil(run *Measured) {
	no := false
	checks := slices.Clone(run.Result.Validity)
	for i := range checks {
		if checks[i].Check == "neighbours" {
			checks[i].OK, checks[i].Detail = &no, "others used the CPU"
		}
	}
	run.Result.Validity, run.Outcome = checks, "inconclusive"
}

// code is the exit code of `k6 x compare`.
func code(q Request) int {
	if q.Kept {
		if KeptRefusal(q.A, q.B[0], q.Beds) != "" {
			return exit.Usage
		}
	} else if Refusal(q.A, q.B, q.Beds) != "" {
		return exit.Usage
	}
	return Make(q).ExitCode()
}

// copied is the same comparison once more, so that an edit does not change the original.
func (m made) copied() made {
	own := ofCase(m.seed, m.Kept)
	own.random = m.random
	return own
}

// ofCase makes the same comparison for the same seed.
func ofCase(seed uint64, kept bool) made {
	m := draw(rand.New(rand.NewPCG(seed, 30)), kept)
	m.seed = seed
	return m
}

// some are the runs that an edit changes: one, some or all of a side.
func (m made) some() []*Measured {
	runs := [][]Measured{m.A, m.B}[m.random.IntN(2)]
	var all []*Measured
	share := []float64{0, 0.3, 1}[m.random.IntN(3)]
	one := m.random.IntN(len(runs))
	for i := range runs {
		if i == one || m.random.Float64() < share {
			all = append(all, &runs[i])
		}
	}
	return all
}

// wrong is a value that replaces a figure.
func (m made) wrong() *float64 {
	return []*float64{nil, p(0), p(-1), p(1e12), p(math.SmallestNonzeroFloat64)}[m.random.IntN(5)]
}

// removals remove evidence. The name says what was removed, in a test's failure.
var removals = []struct {
	name string
	edit func(m *made)
}{
	{"a metric", func(m *made) {
		value := m.wrong()
		which := m.random.IntN(8)
		for _, run := range m.some() {
			setFigure(run.Result, which, value)
		}
	}},
	{"a run", func(m *made) {
		if m.Kept {
			return // the user decides which runs are kept
		}
		for _, runs := range []*[]Measured{&m.A, &m.B} {
			if m.random.IntN(2) == 0 && len(*runs) > 1 {
				i := m.random.IntN(len(*runs))
				*runs = slices.Delete(slices.Clone(*runs), i, i+1)
			}
		}
	}},
	{"a pair", func(m *made) {
		if m.Kept {
			return
		}
		pair := 1 + m.random.IntN(len(m.A))
		gone := func(r Measured) bool { return r.Pair == pair }
		m.A, m.B = slices.DeleteFunc(slices.Clone(m.A), gone), slices.DeleteFunc(slices.Clone(m.B), gone)
	}},
	{"a result", func(m *made) {
		if m.Kept {
			return
		}
		for _, run := range m.some() {
			run.Result, run.Outcome, run.Cause = nil, "set-up failed", "bench"
			if m.random.IntN(2) == 0 {
				run.Outcome, run.Cause = "inconclusive", ""
			}
		}
	}},
	{"a section", func(m *made) {
		which := m.random.IntN(7)
		for _, run := range m.some() {
			r := run.Result
			switch which {
			case 0:
				r.Validity = nil
			case 1:
				for i := range r.Validity {
					r.Validity[i].OK = nil
				}
			case 2:
				r.Operations = nil
			case 3:
				r.Processes = nil
			case 4:
				r.Integrity = nil
			case 5:
				r.CPU = nil
			case 6:
				r.Operations[0].LatencyMS = nil
			}
		}
	}},
	{"a copy in place of a run", func(m *made) {
		runs := [][]Measured{m.A, m.B}[m.random.IntN(2)]
		from, to := m.random.IntN(len(runs)), m.random.IntN(len(runs))
		if from == to {
			return
		}
		pair, start := runs[to].Pair, runs[to].Result.Run.Start
		data := *runs[from].Result
		runs[to].Result = &data
		if m.random.IntN(2) == 0 {
			runs[to].Result.Run.ID = fmt.Sprintf("copy-%d", m.random.Int())
		}
		runs[to].Pair, runs[to].Result.Run.Start = pair, start
	}},
	{"spoiled", func(m *made) {
		for _, run := range m.some() {
			m.spoil(run)
		}
	}},
}

// setFigure sets one figure of a result.
func setFigure(r *result.Result, which int, value *float64) {
	op := &r.Operations[0]
	plain := 0.0
	if value != nil {
		plain = *value
	}
	switch which {
	case 0:
		op.Transfer = &result.Transfer{Bytes: 2048000, MbitPerS: value}
	case 1:
		op.RatePerS = value
	case 2:
		if op.LatencyMS != nil {
			op.LatencyMS.P50 = value
		}
	case 3:
		if op.LatencyMS != nil {
			op.LatencyMS.P99 = value
		}
	case 4:
		op.WindowS = plain
	case 5:
		r.Processes[0].CPUS = plain
	case 6:
		r.Processes[0].PeakAnonBytes = nil
		if value != nil && math.Abs(plain) < 1e15 {
			r.Processes[0].PeakAnonBytes = new(int64(plain))
		}
	case 7:
		if r.CPU = nil; value != nil {
			r.CPU = &result.WindowCPU{WindowS: 4, QuietS: 1, SystemS: plain}
		}
	}
}

// worsenings make B worse.
var worsenings = []struct {
	name string
	edit func(m *made)
}{
	{"slower", func(m *made) {
		by := 1 + m.random.Float64()
		for i := range m.B {
			if m.random.IntN(2) == 0 {
				slow(m.B[i].Result, by)
			}
		}
	}},
	{"more CPU", func(m *made) {
		by := 1 + m.random.Float64()
		for i := range m.B {
			m.B[i].Result.CPU.SystemS *= by
		}
	}},
	{"more memory", func(m *made) {
		for i := range m.B {
			total := &m.B[i].Result.Processes[0]
			total.PeakAnonBytes = new(*total.PeakAnonBytes * int64(2+m.random.IntN(10)))
		}
	}},
	{"errors", func(m *made) {
		kind := []string{"timeout", "corrupted", "connection_refused"}[m.random.IntN(3)]
		n := []int64{1, 20, 2000}[m.random.IntN(3)]
		all := m.random.IntN(2) == 0
		for i := range m.B {
			if all || m.random.IntN(4) == 0 {
				m.fail(&m.B[i], kind, n)
			}
		}
	}},
	{"integrity", func(m *made) {
		no := false
		run := &m.B[m.random.IntN(len(m.B))]
		run.Result.Integrity, run.Outcome = []result.Integrity{{Check: "far end: tcp", OK: &no}}, "fail"
	}},
	{"a process ends", func(m *made) {
		no := false
		run := &m.B[m.random.IntN(len(m.B))]
		run.Result.Validity[1].OK, run.Outcome = &no, "fail"
	}},
}

// slow makes a result slower by a factor, with all derived figures.
func slow(r *result.Result, by float64) {
	op := &r.Operations[0]
	op.WindowS *= by
	op.RatePerS = p(*op.RatePerS / by)
	if op.Transfer != nil {
		op.Transfer = &result.Transfer{Bytes: op.Transfer.Bytes, MbitPerS: p(*op.Transfer.MbitPerS / by)}
	}
	if l := op.LatencyMS; l != nil {
		for _, v := range []*float64{&l.Avg, &l.Min, l.P50, l.P90, l.P95, l.P99, l.P999, &l.Max} {
			*v *= by
		}
	}
}

// badness orders the codes: a pass is best, a failure worst. A refusal is as bad as an inconclusive comparison.
func badness(code int) int {
	switch code {
	case exit.Pass:
		return 0
	case exit.Fail:
		return 2
	}
	return 1
}

// eachCase tries a law in random cases with fixed seeds, on all CPUs.
func eachCase(t *testing.T, kept bool, law func(m made) (broken string)) {
	t.Helper()
	var group sync.WaitGroup
	var lock sync.Mutex
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < *lawCases; i += workers {
				if why := law(ofCase(uint64(i), kept)); why != "" {
					lock.Lock()
					t.Errorf("case %d: %s", i, why)
					lock.Unlock()
				}
			}
		})
	}
	group.Wait()
}

func forBoth(t *testing.T, law func(m made) string) {
	t.Helper()
	for name, kept := range map[string]bool{"in turns": false, "a baseline": true} {
		t.Run(name, func(t *testing.T) { eachCase(t, kept, law) })
	}
}

func reasonsOf(q Request) string {
	c := Make(q)
	return c.Verdict + " " + strings.Join(c.Reasons, "; ")
}

func TestLessEvidenceIsNoPass(t *testing.T) {
	forBoth(t, func(m made) string {
		before := code(m.Request)
		if before == exit.Pass {
			return ""
		}
		edited := m.copied()
		removal := removals[m.random.IntN(len(removals))]
		removal.edit(&edited)
		if code(edited.Request) == exit.Pass {
			return fmt.Sprintf("%d passes without %s: %s", before, removal.name, reasonsOf(m.Request))
		}
		return ""
	})
}

func TestAWorseBIsJudgedNoBetter(t *testing.T) {
	forBoth(t, func(m made) string {
		before := code(m.Request)
		edited := m.copied()
		worsening := worsenings[m.random.IntN(len(worsenings))]
		worsening.edit(&edited)
		if after := code(edited.Request); badness(after) < badness(before) {
			return fmt.Sprintf("%d becomes %d by: %s; before: %s; after: %s", before, after, worsening.name, reasonsOf(m.Request), reasonsOf(edited.Request))
		}
		return ""
	})
}

func TestSwappedSidesDoNotBothPass(t *testing.T) {
	eachCase(t, false, func(m made) string {
		c := Make(m.Request)
		beyond := slices.ContainsFunc(c.Metrics, func(x Metric) bool {
			// Worse by more than the bound on either side, significant or not.
			return x.Role != Shown && x.shift.N > 0 && math.Abs(x.shift.Estimate()) > x.bound(m.WorseBy)+x.allowance
		})
		if !beyond {
			return ""
		}
		swapped := m.copied()
		swapped.A, swapped.B = swapped.B, swapped.A
		swapped.SpecA, swapped.SpecB = swapped.SpecB, swapped.SpecA
		primary := slices.ContainsFunc(c.Metrics, func(x Metric) bool {
			return x.Role == Primary && x.shift.N > 0 && math.Abs(x.shift.Estimate()) > x.bound(m.WorseBy)
		})
		if primary && code(m.Request) == exit.Pass && code(swapped.Request) == exit.Pass {
			return "both pass: " + reasonsOf(m.Request)
		}
		return ""
	})
}

func TestOrderOfFilesChangesNothing(t *testing.T) {
	forBoth(t, func(m made) string {
		before := Make(m.Request)
		edited := m.copied()
		for _, runs := range [][]Measured{edited.A, edited.B} {
			m.random.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		}
		if after := Make(edited.Request); after.ExitCode() != before.ExitCode() || after.Doubt != before.Doubt {
			return fmt.Sprintf("%d becomes %d", before.ExitCode(), after.ExitCode())
		}
		return ""
	})
}

// TestMadeRunsMeetAllVerdicts: laws that only ever met one verdict would prove nothing.
func TestMadeRunsMeetAllVerdicts(t *testing.T) {
	counts := map[int]int{}
	for i := range 300 {
		counts[code(ofCase(uint64(i), false).Request)]++
	}
	for _, want := range []int{exit.Pass, exit.Fail, exit.Inconclusive} {
		if counts[want] < 30 {
			t.Errorf("%d of 300 end with %d", counts[want], want)
		}
	}
	if difference.Next(0) != 12 {
		t.Error("the first look is not at 12 pairs")
	}
}
