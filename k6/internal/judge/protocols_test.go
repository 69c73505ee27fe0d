// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

func side(outcome string) *ProtocolSide {
	one := &Spread{Median: 1, Min: 1, Max: 1}
	return &ProtocolSide{Outcome: outcome, Figures: map[string]*Spread{"rtt_ms": one, "mbit_64k": one}}
}

func line(target, judged string) ProtocolComparison {
	return ProtocolComparison{Target: target, Bound: 1, Ratio: p(1.1), Low: p(1.05), High: p(1.2), Judged: judged, Pairs: 8}
}

// lines are the lines of all targets: met, except the given ones.
func lines(others ...ProtocolComparison) (all []ProtocolComparison) {
	for _, target := range targets {
		i := slices.IndexFunc(others, func(l ProtocolComparison) bool { return l.Target == target })
		if i >= 0 {
			all = append(all, others[i])
		} else {
			all = append(all, line(target, met))
		}
	}
	for _, other := range others {
		if !slices.Contains(targets, other.Target) {
			all = append(all, other)
		}
	}
	return all
}

// trips has counts of round trips; nil was not counted.
func trips(baseline, candidate *int, ok *bool) ProtocolRow {
	return ProtocolRow{Row: "x", Baseline: *side(ranWell), RoundTrips: &ProtocolRoundTrips{Baseline: baseline, Candidate: candidate, OK: ok}}
}

// rowNamed is a row that was measured on its baseline.
func rowNamed(name string, candidate *ProtocolSide, lines ...ProtocolComparison) ProtocolRow {
	return ProtocolRow{Row: name, Baseline: *side(ranWell), Candidate: candidate, Comparison: lines}
}

func ofRows(compared bool, j Judged, verdict string, rows ...ProtocolRow) (string, []string) {
	found := ofProtocols(Protocols{Compared: compared, Rows: rows}, nil, j, verdict)
	var texts []string
	for _, r := range found.reasons {
		texts = append(texts, r.text)
	}
	return found.verdict, texts
}

func TestTheVerdictIsOfRowsAndTargetsTogether(t *testing.T) {
	detail := "no sshd"
	impossible := rowNamed("ssh", nil)
	impossible.Baseline = *side(impossibleHere)
	impossible.Baseline.Detail = &detail
	notReady := rowNamed("trojan", nil)
	notReady.Baseline = *side("not ready")
	for about, c := range map[string]struct {
		row  ProtocolRow
		want string
	}{
		"measured":                     {rowNamed("trojan", nil), result.Pass},
		"impossible here":              {impossible, result.Pass},
		"not ready":                    {notReady, result.Fail},
		"a candidate that is missing":  {rowNamed("trojan", side("missing binary")), result.Fail},
		"missed":                       {rowNamed("trojan", nil, line("memory", "missed")), result.Fail},
		"uncertain":                    {rowNamed("trojan", nil, line("memory", "uncertain")), result.Inconclusive},
		"met":                          {rowNamed("trojan", nil, line("memory", "met")), result.Pass},
		"more round trips":             {trips(p(3), p(7), p(false)), result.Fail},
		"round trips within the bound": {trips(p(3), p(4), p(true)), result.Pass},
	} {
		if got, texts := ofRows(false, Judged{}, result.Pass, rowNamed("socks", nil), c.row); got != c.want {
			t.Errorf("%s: %s, want %s: %q", about, got, c.want, texts)
		}
	}
	cpu := line("CPU", "")
	cpu.Ratio = p(1.5)
	got, texts := ofRows(true, Judged{}, result.Pass, rowNamed("trojan", side(ranWell), lines(line("throughput", "bound"), cpu)...))
	if got != result.Inconclusive || !slices.Equal(texts, []string{
		"trojan: throughput: the generator or a configured rate limits the baseline. The candidate uses 150 % of the baseline's CPU time, so it may be slower than the figures show",
	}) {
		t.Errorf("%s %q", got, texts)
	}
}

func TestAHopThatIsNotWhatItsRowSaysIsNeverMet(t *testing.T) {
	stripped := side(wrongWire)
	stripped.Detail = p("turn 5: the hop shows no TLS: HTTP plaintext")
	unseen := side(ranWell)
	unseen.Unchecked = p("turn 2: packets cannot be captured")
	met := lines(line("memory", "met"))
	baseline := func(own, candidate *ProtocolSide, lines ...ProtocolComparison) ProtocolRow {
		return ProtocolRow{Row: "trojan", Baseline: *own, Candidate: candidate, Comparison: lines}
	}
	for about, c := range map[string]struct {
		row  ProtocolRow
		want string
		text string
	}{
		"the candidate's": {baseline(side(ranWell), stripped, met...), result.Fail,
			"trojan: candidate: wrong wire: turn 5: the hop shows no TLS: HTTP plaintext"},
		"the baseline's": {baseline(stripped, side(ranWell), lines(line("memory", "missed"))...), result.Inconclusive,
			"trojan: baseline: wrong wire: turn 5: the hop shows no TLS: HTTP plaintext"},
		"a baseline's that is measured alone": {baseline(stripped, nil), result.Fail,
			"trojan: baseline: wrong wire: turn 5: the hop shows no TLS: HTTP plaintext"},
		"nobody knows the candidate's": {baseline(side(ranWell), unseen, met...), result.Inconclusive,
			"trojan: candidate: the hop was not checked: turn 2: packets cannot be captured"},
		"nobody knows the baseline's": {baseline(unseen, side(ranWell), met...), result.Inconclusive,
			"trojan: baseline: the hop was not checked: turn 2: packets cannot be captured"},
	} {
		got, texts := ofRows(c.row.Candidate != nil, Judged{}, result.Pass, rowNamed("socks", side(ranWell), met...), c.row)
		if got != c.want || !slices.Equal(texts, []string{c.text}) {
			t.Errorf("%s: %s, want %s: %q", about, got, c.want, texts)
		}
	}
	if got, texts := ofRows(false, Judged{}, result.Pass, baseline(unseen, nil)); got != result.Pass {
		t.Errorf("nothing is compared: %s %q", got, texts)
	}
}

func TestTheCPUThatACandidateTakesIsFoundWhereverItsLineIs(t *testing.T) {
	cpu := line("CPU", "")
	cpu.Ratio = p(1.5)
	row := rowNamed("trojan", side(ranWell), append([]ProtocolComparison{cpu}, lines(line("throughput", "bound"))...)...)
	_, texts := ofRows(true, Judged{}, result.Pass, row)
	if len(texts) != 1 || !strings.Contains(texts[0], "The candidate uses 150 % of the baseline's CPU time") {
		t.Errorf("%q", texts)
	}
}

func TestABoundThroughputIsToldWithTheCPUThatACandidatePutsOff(t *testing.T) {
	cpu, turn := line("CPU", ""), line("turn CPU", "")
	cpu.Ratio, turn.Ratio = p(1.), p(2.5)
	row := rowNamed("trojan", side(ranWell), append(lines(line("throughput", "bound")), cpu, turn)...)
	_, texts := ofRows(true, Judged{}, result.Pass, row)
	if len(texts) != 1 || !strings.Contains(texts[0], "The candidate uses 250 % of the baseline's CPU time") {
		t.Errorf("%q", texts)
	}
}

func TestFailedRequestsAreToldByTheirRowsOutcomeAndFailNothingByThemselves(t *testing.T) {
	row := rowNamed("trojan", nil)
	if got, texts := ofRows(false, Judged{}, result.Fail, row); got != result.Pass || len(texts) != 0 {
		t.Errorf("%s %q", got, texts)
	}
	generator := Judged{Result: result.Result{Validity: []result.Validity{*check("generator CPU", "generator", false, "full")}}}
	if got, texts := ofRows(false, generator, result.Fail, row); got != result.Inconclusive || len(texts) != 1 {
		t.Errorf("%s %q", got, texts)
	}
}

func TestAMissIsToldWithItsInterval(t *testing.T) {
	slow := line("throughput", "missed")
	slow.Bound, slow.Ratio, slow.Low, slow.High = 0.9, p(0.5), p(0.45), p(0.55)
	late := line("latency", "missed")
	late.Bound, late.Ratio, late.Low, late.High = 1.2, p(44.0), p(43.6), p(45.0)
	_, texts := ofRows(true, Judged{}, result.Pass, rowNamed("trojan", side(ranWell), lines(slow, late)...))
	if !slices.Equal(texts, []string{
		"trojan: throughput is 50 % of the baseline (45 % to 55 %), and 90 % is the target",
		"trojan: latency is 44 times of the baseline (44 times to 45 times), and 120 % is the target",
	}) {
		t.Errorf("%q", texts)
	}
}

func TestWhatCannotBeToldSaysHowManyTurnsWouldThoseThatTakeTheMostFirst(t *testing.T) {
	of := func(name string, needed *int) ProtocolRow {
		l := line("throughput", "uncertain")
		l.ToDecide = needed
		return rowNamed(name, side(ranWell), lines(l)...)
	}
	few := of("vmess", p(9))
	few.Comparison[0].Ratio, few.Comparison[0].Low, few.Comparison[0].High, few.Comparison[0].Pairs = nil, nil, nil, 2
	broken := of("tuic", p(30))
	broken.Candidate = side("died in mid-run")
	rows := []ProtocolRow{of("socks", p(15)), of("trojan", p(26)), of("vless", nil), few, broken}
	got, texts := ofRows(true, Judged{}, result.Pass, rows[:4]...)
	if got != result.Inconclusive || !slices.Equal(texts, []string{
		"vless: throughput: undecided after 8 turns (110 % of the baseline, 105 % to 120 %); more turns would not help: use a quieter machine",
		"trojan: throughput: undecided after 8 turns (110 % of the baseline, 105 % to 120 %); about 26 turns would decide: TURNS=26",
		"socks: throughput: undecided after 8 turns (110 % of the baseline, 105 % to 120 %); about 15 turns would decide: TURNS=15",
		"vmess: throughput: undecided after 2 turns; about 9 turns would decide: TURNS=9",
	}) {
		t.Errorf("%s %q", got, texts)
	}
	if places := Undecided(rows); !slices.Equal(places, []int{3, 0, 1, 2}) {
		t.Errorf("what takes the fewest goes on first, what broke not at all: %v", places)
	}
	if _, texts := ofRows(true, Judged{}, result.Pass, rows[4]); !slices.Equal(texts, []string{"tuic: candidate: died in mid-run"}) {
		t.Errorf("%q", texts)
	}
	never := of("more than there may be", p(51))
	if _, texts := ofRows(true, Judged{}, result.Pass, never); !strings.HasSuffix(texts[0], "use a quieter machine") {
		t.Errorf("%q", texts)
	}
}

func TestAKnownFaultExcusesItsOwnSide(t *testing.T) {
	faulty, known, detail := side("errors"), "breaks", "1 × closed"
	faulty.Known, faulty.Detail = &known, &detail
	other := side("errors")
	other.Detail = &detail
	row := rowNamed("trojan", other)
	row.Baseline = *faulty
	if _, texts := ofRows(false, Judged{}, result.Pass, row); !slices.Equal(texts, []string{"trojan: candidate: errors: 1 × closed"}) {
		t.Errorf("%q", texts)
	}
}

func TestARunThatMeasuredNothingOrComparedNothingIsNotPassed(t *testing.T) {
	none := &ProtocolSide{Outcome: impossibleHere}
	empty := rowNamed("trojan", nil)
	empty.Baseline = *none
	if got, texts := ofRows(false, Judged{}, result.Pass, empty); got != result.Inconclusive || !slices.Equal(texts, []string{"no row was measured"}) {
		t.Errorf("%s %q", got, texts)
	}
	if got, texts := ofRows(true, Judged{}, result.Pass, rowNamed("trojan", none)); got != result.Inconclusive || !slices.Equal(texts, []string{"no row was compared"}) {
		t.Errorf("%s %q", got, texts)
	}
	if got, texts := ofRows(true, Judged{}, result.Pass, rowNamed("trojan", side(ranWell), lines()...)); got != result.Pass {
		t.Errorf("%s %q", got, texts)
	}
}

func TestTheEnvironmentsThresholdsAndTheRunsValidityCountToo(t *testing.T) {
	crossed := Judged{Result: result.Result{Thresholds: []result.Threshold{inWords(result.Threshold{Operation: "trojan", Metric: "operation_ms", Expression: "p(95)<1", Value: p(2.0), Unit: "ms"}, "")}}}
	if got, texts := ofRows(false, crossed, result.Fail, rowNamed("trojan", nil)); got != result.Fail || !slices.Equal(texts, []string{"trojan: P95 2.00 ms, at most 1 ms"}) {
		t.Errorf("%s %q", got, texts)
	}
	crossed.Validity = []result.Validity{*check("generator CPU", "generator", false, "full")}
	if got, _ := ofRows(false, crossed, result.Inconclusive, rowNamed("trojan", nil)); got != result.Inconclusive {
		t.Error(got)
	}
	broken := rowNamed("trojan", nil)
	broken.Baseline = *side("crashed at start")
	cut := Judged{Result: result.Result{Validity: []result.Validity{*check("complete", "interrupt", false, "interrupted")}}}
	if got, _ := ofRows(false, cut, result.Pass, broken); got != result.Inconclusive {
		t.Error(got)
	}
}

func TestSharesAreInPerCentUpToTenTimes(t *testing.T) {
	for _, c := range []struct {
		value *float64
		want  string
	}{{nil, "0 %"}, {p(0.5), "50 %"}, {p(9.99), "999 %"}, {p(10.0), "10 times"}} {
		if got := times(c.value); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestAsManyTurnsAsThereMayBeAreAskedFor(t *testing.T) {
	l := line("throughput", "uncertain")
	l.ToDecide = p(turnsMost)
	if _, texts := ofRows(true, Judged{}, result.Pass, rowNamed("trojan", side(ranWell), lines(l)...)); !strings.Contains(texts[0], "would decide: TURNS=") {
		t.Errorf("%q", texts)
	}
}

func TestWhatWasNotMeasuredOrNotJudgedHasNotPassed(t *testing.T) {
	lacking := line("memory", "uncertain")
	lacking.Lacks = p("not measured in turn 3 of the candidate")
	forged := line("memory", met)
	forged.Lacks = lacking.Lacks
	empty, odd := line("memory", met), line("memory", "fine")
	empty.Ratio = nil
	never := line("memory", missed)
	never.Ratio, never.Low, never.High, never.Lacks = nil, nil, nil, p("not measured in any turn of the candidate")
	uncounted := rowNamed("trojan", side(ranWell), lines()...)
	uncounted.RoundTrips = &ProtocolRoundTrips{Baseline: p(3)}
	for about, c := range map[string]struct {
		row  ProtocolRow
		want string
		says string
	}{
		"a turn lacks it":         {rowNamed("trojan", side(ranWell), lines(lacking)...), result.Inconclusive, "trojan: memory: not measured in turn 3 of the candidate"},
		"met all the same":        {rowNamed("trojan", side(ranWell), lines(forged)...), result.Inconclusive, "trojan: memory: the comparison has no ratio"},
		"without a ratio":         {rowNamed("trojan", side(ranWell), lines(empty)...), result.Inconclusive, "trojan: memory: the comparison has no ratio"},
		"a word that is none":     {rowNamed("trojan", side(ranWell), lines(odd)...), result.Inconclusive, "trojan: memory: the comparison has no ratio"},
		"no line":                 {rowNamed("trojan", side(ranWell), lines()[:3]...), result.Inconclusive, "trojan: first reply: not compared"},
		"no candidate":            {rowNamed("trojan", nil, lines()...), result.Inconclusive, "trojan: comparison: the candidate was not measured"},
		"it fails on one side":    {rowNamed("trojan", side(ranWell), lines(never)...), result.Fail, "trojan: memory: the operations of the candidate failed, and those of the baseline did not"},
		"round trips of one side": {uncounted, result.Inconclusive, "trojan: round trips: not counted of the candidate"},
	} {
		got, texts := ofRows(true, Judged{}, result.Pass, rowNamed("socks", side(ranWell), lines()...), c.row)
		if got != c.want || !slices.Equal(texts, []string{c.says}) {
			t.Errorf("%s: %s, want %s: %q", about, got, c.want, texts)
		}
	}
	if places := Undecided([]ProtocolRow{rowNamed("trojan", side(ranWell), lines(lacking)...)}); len(places) != 0 {
		t.Errorf("more turns are no mend: %v", places)
	}
}
