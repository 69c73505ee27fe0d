// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
)

// part is the data of one runner before it is written.
type part struct {
	evidence Evidence
	record   *record.Record
}

// send adds a request with its start on the test's clock, in ms.
func (p part) send(at, ms float64, failed bool) {
	series := func(metric string, kind metrics.MetricType) *record.Series {
		return p.record.Series(metric, kind, map[string]string{"operation": "send"})
	}
	series("operation_begun", metrics.Counter).Add(1)
	series("operation_clock_ms", metrics.Gauge).Add(at)
	series("operation_clock_ms", metrics.Gauge).Add(at + ms)
	if failed {
		series("operation_failed", metrics.Rate).Add(1)
		p.record.Series("operation_errors", metrics.Counter, map[string]string{"operation": "send", "kind": "http_5xx"}).Add(1)
		return
	}
	series("operation_failed", metrics.Rate).Add(0)
	series("operation_ms", metrics.Trend).Add(ms)
	series("operation_items", metrics.Counter).Add(1)
}

// late adds the generator's lateness.
func (p part) late(ms float64) {
	p.record.Series("operation_lateness_ms", metrics.Trend, map[string]string{"operation": "send"}).Add(ms)
}

// parts are the parts of a run with the given number of runners, each on a separate machine.
func parts(runners int) (all []part) {
	for n := range runners {
		e := complete()
		e.Run = json.RawMessage(someRun)
		e.Counts.Iterations = 0
		if runners > 1 {
			e.Runner = &Runner{Number: n + 1, Of: runners, Segment: fmt.Sprintf("%d/%d:%d/%d", n, runners, n+1, runners), Machine: fmt.Sprint("m", n), Teardown: n == 0}
		}
		all = append(all, part{e, record.New()})
	}
	return all
}

// files writes the parts, and returns their paths.
func files(t *testing.T, all []part) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for i, p := range all {
		path := filepath.Join(dir, FileOf("pulsar-ingest", i+1))
		if len(all) == 1 {
			path = filepath.Join(dir, "pulsar-ingest"+record.Extension)
		}
		evidence, err := json.Marshal(p.evidence)
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.record.Write(file, evidence); err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
		paths = append(paths, path)
	}
	return paths
}

func judgedFiles(t *testing.T, paths []string, more ...Recorded) Judged {
	t.Helper()
	all := append(Open(paths...), more...)
	defer Close(all)
	j, err := Runners(all)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// sentBy distributes 1,000 requests to the given number of runners.
func sentBy(runners int, ms func(n int) float64, failed func(n int) bool) []part {
	all := parts(runners)
	for n := range 1000 {
		p := &all[n%runners]
		p.send(1000+2*float64(n), ms(n), failed(n))
		p.evidence.Counts.Iterations++
	}
	return all
}

func never(int) bool { return false }

// spread is a latency from 1 to 11 ms.
func spread(n int) float64 { return 1 + float64(n*7919%1000)/100 }

func TestAHundredRunnersHaveTheFiguresOfOne(t *testing.T) {
	one := judgedFiles(t, files(t, sentBy(1, spread, never)))
	if one.Verdict != result.Pass || one.Runners != nil {
		t.Fatal(one.Verdict, reasonsOf(one))
	}
	figures := func(j Judged) string {
		text, err := json.Marshal([]any{j.Operations, j.Thresholds, j.Verdict, j.Reasons, j.Notes})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, runners := range []int{2, 7, 100} {
		j := judgedFiles(t, files(t, sentBy(runners, spread, never)))
		if got := figures(j); got != figures(one) {
			t.Errorf("%d runners:\n%s\none:\n%s", runners, got, figures(one))
		}
		if len(j.Runners) != runners {
			t.Errorf("%d rows of %d", len(j.Runners), runners)
		}
		if problems, text := problemsOf(t, j); len(problems) > 0 {
			t.Errorf("%v\n%s", problems, text)
		}
	}
}

func TestARecordFileIsJudgedAsTheRecordInMemory(t *testing.T) {
	all := sentBy(1, spread, never)
	live, err := judged(t, all[0].evidence, record.Together(all[0].record)).File()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := judgedFiles(t, files(t, all)).File()
	if err != nil || string(kept) != string(live) {
		t.Errorf("%s\nlive: %s\n%v", kept, live, err)
	}
}

func TestAThresholdIsOfTheWhole(t *testing.T) {
	bounded := func(all []part, bounds map[string]float64) []part {
		for i := range all {
			for name, value := range bounds {
				all[i].evidence.Operations[0].Bounds[name] = p(value)
			}
		}
		return all
	}
	// 1,000 items: true for the whole, false for each part.
	j := judgedFiles(t, files(t, sentBy(2, spread, never)))
	isJudged(t, "count of the whole", j, result.Pass, "")
	// False for the whole, true for one part: its P95 is 2 ms, the other's 90 ms.
	slow := func(n int) float64 { return []float64{2, 90}[n%2] }
	j = judgedFiles(t, files(t, bounded(sentBy(2, slow, never), map[string]float64{"p(95)": 50})))
	isJudged(t, "P95 of the whole", j, result.Fail, "P95 90.0 ms, at most 50 ms")
	// True for the whole, false for one part: 1 % of its requests are slow, and P99 is over all requests.
	few := func(n int) float64 {
		if n%2 == 1 && n%50 == 1 && n < 300 {
			return 90
		}
		return 2
	}
	j = judgedFiles(t, files(t, bounded(sentBy(2, few, never), map[string]float64{"p(99)": 50})))
	isJudged(t, "P99 of the whole", j, result.Pass, "")
	// The average of the percentiles, 46, does not appear; the rate of the whole is that of both runners.
	j = judgedFiles(t, files(t, bounded(sentBy(2, spread, never), map[string]float64{"rate": 400})))
	isJudged(t, "rate of the whole", j, result.Pass, "")
	// The whole allows errors; all of them are in one runner.
	one := func(n int) bool { return n%2 == 1 && n < 20 }
	for most, verdict := range map[float64]string{0.01: result.Pass, 0.009: result.Fail} {
		j = judgedFiles(t, files(t, bounded(sentBy(2, spread, one), map[string]float64{"failed": most})))
		isJudged(t, fmt.Sprint("errors of the whole: ", most), j, verdict, "")
	}
}

func TestARecordThatIsNotThereIsNeverAPass(t *testing.T) {
	rewritten := func(path string, change func(*Evidence)) {
		all := Open(path)
		defer Close(all)
		change(&all[0].Evidence)
		text, _ := json.Marshal(all[0].Evidence)
		var to strings.Builder
		if err := all[0].Record.Write(&to, text); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(to.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for about, c := range map[string]struct {
		spoil func(paths []string) []string
		lost  []Recorded
		says  string
		rows  int
	}{
		"missing":          {func(p []string) []string { return p[:2] }, nil, "runner 3: no record came", 3},
		"missing, told":    {func(p []string) []string { return p[:2] }, []Recorded{Lost(3, "killed: signal 9")}, "runner 3: killed: signal 9", 3},
		"gone":             {func(p []string) []string { _ = os.Remove(p[1]); return p }, nil, "runner 2: pulsar-ingest.runner-2.record: no such file", 3},
		"half":             {func(p []string) []string { cutFile(t, p[1], 0.5); return p }, nil, "runner 2: pulsar-ingest.runner-2.record: it was cut short", 3},
		"empty":            {func(p []string) []string { cutFile(t, p[1], 0); return p }, nil, "runner 2: pulsar-ingest.runner-2.record: it was cut short", 3},
		"all but one byte": {func(p []string) []string { cutFile(t, p[1], 0.9999); return p }, nil, "runner 2: pulsar-ingest.runner-2.record: it was cut short", 3},
		"twice":            {func(p []string) []string { return append(p, p[2]) }, nil, "runner 3: pulsar-ingest.runner-3.record: a record of the same runner is there already", 4},
		"of another run": {func(p []string) []string {
			rewritten(p[0], func(e *Evidence) {
				e.Run = json.RawMessage(strings.Replace(string(e.Run), `"id":"r"`, `"id":"s"`, 1))
			})
			return p
		}, nil, "runner 1: pulsar-ingest.runner-1.record: it is of another run: its run.id differs from the others'", 3},
		"of other bounds": {func(p []string) []string {
			rewritten(p[1], func(e *Evidence) { e.Operations[0].Bounds["p(95)"] = nil })
			return p
		}, nil, "runner 2: pulsar-ingest.runner-2.record: it is of another run: its operations differs", 3},
		"of another profile": {func(p []string) []string { rewritten(p[1], func(e *Evidence) { e.Plan.Seconds = 9 }); return p }, nil, "its plan differs", 3},
		"of another number":  {func(p []string) []string { rewritten(p[1], func(e *Evidence) { e.Runner.Of = 4 }); return p }, nil, "its number of runners differs", 3},
		"of an earlier run of this id": {func(p []string) []string {
			rewritten(p[1], func(e *Evidence) { e.Runner.Together = "earlier" })
			return p
		}, nil, "runner 2: pulsar-ingest.runner-2.record: it is of another run: its coordinator differs", 3},
		"of a run of one":   {func(p []string) []string { rewritten(p[1], func(e *Evidence) { e.Runner = nil }); return p }, nil, "number of runners differs", 3},
		"of no such runner": {func(p []string) []string { rewritten(p[1], func(e *Evidence) { e.Runner.Number = 7 }); return p }, nil, "it does not name its runner", 4},
	} {
		// It does not pass even if the rest is enough: 600 of 1,000 requests are required.
		all := sentBy(3, spread, never)
		for i := range all {
			all[i].evidence.Plan.Iterations, all[i].evidence.Operations[0].Least = nil, nil
		}
		isJudged(t, "whole", judgedFiles(t, files(t, all)), result.Pass, "")
		j := judgedFiles(t, c.spoil(files(t, all)), c.lost...)
		isJudged(t, about, j, result.Inconclusive, c.says)
		bad := slices.DeleteFunc(slices.Clone(j.Runners), func(r result.Runner) bool { return r.OK })
		if len(j.Runners) != c.rows || len(bad) == 0 {
			t.Errorf("%s: %+v", about, j.Runners)
		}
		if problems, text := problemsOf(t, j); len(problems) > 0 {
			t.Errorf("%s: %v\n%s", about, problems, text)
		}
	}
}

func cutFile(t *testing.T, path string, share float64) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:int(share*float64(len(whole)))], 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestNoRecordAtAllIsAnError(t *testing.T) {
	if _, err := Runners(nil); err == nil {
		t.Error("nothing is judged")
	}
	if _, err := Runners([]Recorded{Lost(1, "killed"), Lost(2, "never came")}); err == nil || err.Error() != "killed; never came" {
		t.Error(err)
	}
	// Two runs of one runner each are not one run.
	a, b := files(t, sentBy(1, spread, never)), files(t, sentBy(1, spread, never))
	if _, err := Runners(Open(a[0], b[0])); err == nil || !strings.Contains(err.Error(), "does not name its runner") {
		t.Error(err)
	}
}

func TestWhatRunnersReportedAddsUpAndIsComparedWithWhatWasFoundOnce(t *testing.T) {
	all := sentBy(2, spread, never)
	all[0].evidence.Plan.Iterations, all[0].evidence.Operations[0].Least = nil, nil
	all[1].evidence.Plan.Iterations, all[1].evidence.Operations[0].Least = nil, nil
	for _, own := range all {
		own.record.Series("user_changes", metrics.Counter, changed("created", "done", 1).Tags).Add(500)
	}
	found := func(users int64) []string {
		all[0].evidence.Facts = []Fact{{Check: "users", Source: "sql", Found: said(&users), Reported: Amount{Counted: []Term{changed("created", "done", 1)}}}}
		return files(t, all)
	}
	isJudged(t, "lost runner", judgedFiles(t, found(1000)[:1]), result.Inconclusive, "runner 2: no record came")
	isJudged(t, "lost data", judgedFiles(t, found(999)), result.Fail, "users: 999 found, 1000 reported")
	if whole := judgedFiles(t, found(1000)).Integrity; len(whole) != 1 || whole[0].Detail != "1000, as reported" {
		t.Errorf("what the runners report does not add up: %+v", whole)
	}
}

func TestOneGeneratorThatDoesNotKeepUpIsNamed(t *testing.T) {
	for about, c := range map[string]struct {
		spoil func(*part)
		says  string
	}{
		"saturated": {func(own *part) { own.evidence.Usage = usage(180, 99, 10, "") }, "generator CPU: runner 2: k6 (runner 2) used 180.0 % of one core; the 2 cores were 99.0 % busy"},
		"by its own account": {func(own *part) {
			own.evidence.Usage = nil
			own.evidence.Runner.CPUS, own.evidence.Runner.CPUs = p(3.9), p(2.0)
		}, "generator CPU: runner 2: runner 2 used 195.0 % of one core, of the allowed 200 %"},
		"late": {func(own *part) {
			for range 5 {
				own.late(80)
			}
		}, "runner 2: send: 5 of 55 sent more than 5.445 ms late"},
		"late to start": {func(own *part) { own.evidence.Runner.StartOffsetMS = 250 }, "runner 2: its load began 250 ms away from the common start"},
		"early":         {func(own *part) { own.evidence.Runner.StartOffsetMS = -250 }, "runner 2: its load began -250 ms away from the common start"},
		"ended early":   {func(own *part) { own.evidence.LoadS = 1.1 }, "runner 2: 1.1 s of 2.0 s: ended early"},
		"dropped":       {func(own *part) { own.evidence.Counts.Dropped = 3 }, "3 iterations never started"},
	} {
		all := sentBy(20, spread, never)
		for i := range all {
			all[i].evidence.Plan = Plan{Seconds: 2}
			all[i].evidence.Operations[0].Loop, all[i].evidence.Operations[0].Least = "open", nil
			for range 50 {
				all[i].late(0.1)
			}
		}
		isJudged(t, "sound", judgedFiles(t, files(t, all)), result.Pass, "")
		c.spoil(&all[1])
		j := judgedFiles(t, files(t, all))
		isJudged(t, about, j, result.Inconclusive, c.says)
		if lateness := checkNamed(t, j, "generator lateness: send"); !*lateness.OK {
			t.Errorf("%s: one of twenty is no P99: %+v", about, lateness)
		}
		if about != "dropped" && (j.Runners[1].OK || j.Runners[1].Detail == "" || !j.Runners[0].OK) {
			t.Errorf("%s: %+v", about, j.Runners[:2])
		}
	}
}

func TestRunnersOfOneMachineAreOneGenerator(t *testing.T) {
	all := sentBy(2, spread, never)
	for i := range all {
		all[i].evidence.Runner.Machine = "same"
		// Each generator alone is far below the limit, and counts the other as a neighbour.
		all[i].evidence.Usage = usage(90, 99, 15, "")
	}
	j := judgedFiles(t, files(t, all))
	isJudged(t, "both", j, result.Inconclusive, "generator CPU: k6 (runner 1) and k6 (runner 2) used 180.0 % of one core")
	names := []string{}
	for _, p := range j.Processes {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, []string{"relay", "k6 (runner 1)", "k6 (runner 2)", "total"}) {
		t.Error(names)
	}
}

func TestClocksThatAreOffByAnHourAreCorrected(t *testing.T) {
	all := sentBy(2, spread, never)
	// The second runner began 500 ms after the first, and its clock is an hour behind: by its own clock it began much
	// earlier.
	all[0].evidence.Runner.ZeroUnixMS = 1_795_392_000_000
	all[1].evidence.Runner.ZeroUnixMS = 1_795_392_000_500 - 3_600_000
	all[1].evidence.Runner.ClockOffsetMS = 3_600_000
	all[1].evidence.Run = json.RawMessage(strings.NewReplacer("2026-11-23T00:00:00Z", "2026-11-22T23:00:00.5Z", "2026-11-23T00:00:02Z", "2026-11-22T23:00:02.5Z").Replace(someRun))
	j := judgedFiles(t, files(t, all))
	isJudged(t, "an hour", j, result.Pass, "")
	// From 1,000 ms to 2,998 ms on each runner's clock, plus the last latency.
	want := (500 + 1998 + spread(999)) / 1000
	if got := j.Operations[0].WindowS; got < want-1e-5 || got > want+1e-5 {
		t.Errorf("a window of %g s, want %g", got, want)
	}
	var found struct{ Start, End string }
	if err := json.Unmarshal(j.Run, &found); err != nil || found.Start != "2026-11-23T00:00:00.000Z" || found.End != "2026-11-23T00:00:02.500Z" {
		t.Error(found, err)
	}
}

func TestWhatWasSeenOnceIsOfTheOneWhoRanTheTeardown(t *testing.T) {
	all := sentBy(3, spread, never)
	for i := range all {
		e := &all[i].evidence
		e.Runner.Teardown = i == 1
		e.Notes = []string{"the profile's own"}
		e.Leftovers = "topics"
		if i == 1 {
			e.Notes = append(e.Notes, "the token expired")
			e.Facts = []Fact{{Check: "users", Source: "sql", Found: said(p(int64(1))), Reported: said(p(int64(1)))}}
			e.Sections = []result.Section{shown(`{"name": "own", "title": "Tunnels", ` + columns + `, "rows": [["asked", 1]]}`)}
			e.Usage.Whole = &result.WindowCPU{WindowS: 5, QuietS: 2, SystemS: 3, QuietSystemS: 1}
		}
	}
	j := judgedFiles(t, files(t, all))
	if len(j.Integrity) != 1 || len(j.Sections) != 1 || *j.Sections[0].Rows[0][1].Value != 1 || !slices.Equal(j.Notes, []string{"the profile's own", "runner 2: the token expired"}) {
		t.Errorf("%+v %+v %q", j.Integrity, j.Sections, j.Notes)
	}
	if want := (result.WindowCPU{WindowS: 5, QuietS: 2, SystemS: 3, QuietSystemS: 1}); j.CPU == nil || *j.CPU != want {
		t.Errorf("the quiet period came after the load of all: %+v", j.CPU)
	}
	all[0].evidence.Usage.Whole, all[1].evidence.Usage.Whole = &result.WindowCPU{SystemS: 1}, nil
	if j := judgedFiles(t, files(t, all)); j.CPU != nil {
		t.Errorf("others had their load still: %+v", j.CPU)
	}
}

// Two generators may measure other figures of the same relay than one: docs/how-to/runners.md.
func TestTheNumberOfRunnersIsAParameterOfTheRun(t *testing.T) {
	for runners, want := range map[int]string{1: `{}`, 3: `{"runners":3}`} {
		var run struct{ Parameters json.RawMessage }
		j := judgedFiles(t, files(t, sentBy(runners, spread, never)))
		if err := json.Unmarshal(j.Run, &run); err != nil || string(run.Parameters) != want {
			t.Errorf("%d runners: %s %v", runners, run.Parameters, err)
		}
	}
}

func TestSharesAddUpToOne(t *testing.T) {
	all := parts(3)
	random := rand.New(rand.NewPCG(1, 1))
	for n := range 1000 {
		i := min(2, random.IntN(4))
		all[i].send(float64(n), 1, n%10 == 0)
		all[i].evidence.Counts.Iterations++
	}
	total := 0.0
	for _, r := range judgedFiles(t, files(t, all)).Runners {
		total += *r.Share
	}
	if total < 0.9999 || total > 1.0001 {
		t.Error(total)
	}
}
