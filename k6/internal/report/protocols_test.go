// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
)

func spreadOf(value float64) *result.Spread {
	return &result.Spread{Median: value, Min: value, Max: value}
}

func side(outcome, detail string) result.ProtocolSide {
	s := result.ProtocolSide{Outcome: outcome, Figures: map[string]*result.Spread{"rtt_ms": spreadOf(0.2), "udp_rtt_ms": nil}}
	if detail != "" {
		s.Detail = &detail
	}
	return s
}

func compared() result.Protocols {
	comparison := func(target string, ratio, low, high float64, different bool, judged string) result.ProtocolComparison {
		return result.ProtocolComparison{Target: target, Ratio: &ratio, Low: &low, High: &high, Different: different, Judged: judged}
	}
	candidate, refused := side(result.Measured, ""), side("refused configuration", "unknown type")
	p := result.Protocols{
		Baseline: result.Program{Engine: "sing-box", Binary: "sing-box", Version: new("1.12.12")}, Candidate: &result.Program{Engine: "sing-box", Binary: "next"},
		Turns: 5, FewestTurns: 7, MeasuringBoundCPUs: 0.9, Targets: &result.ProtocolTargets{Throughput: 0.9, Latency: 1.2, Memory: 1, Tolerance: 0.05},
		Rows: []result.ProtocolRow{
			{Row: "trojan", RoundTrips: &result.ProtocolRoundTrips{Baseline: 3, Candidate: 4, OK: true}, Baseline: side(result.Measured, ""), Candidate: &candidate, Comparison: []result.ProtocolComparison{
				comparison("throughput", 0.5, 0.45, 0.55, true, "missed"), comparison("latency", 1.01, 0.9, 1.1, false, "met"),
				comparison("memory", 1.02, 0.8, 1.3, false, "uncertain"), comparison("first reply", 1.5, 1.4, 1.6, true, ""), comparison("CPU", 0.99, 0.98, 1, false, "")}},
			{Row: "tuic", Baseline: side(result.Measured, ""), Candidate: &refused},
		},
	}
	p.Coverage.Inbound = []result.Coverage{{Type: "trojan", Rows: []string{"trojan"}}}
	p.Coverage.Protocols = []result.ProtocolExtent{{Protocol: "naive", Rows: []string{"naive"}, Needs: new("naive-client")}}
	return p
}

func TestProtocolTables(t *testing.T) {
	p := compared()
	tables := protocolTables(result.Result{Protocols: &p})
	var titles []string
	for _, table := range tables {
		titles = append(titles, table.Title)
	}
	want := []string{"Baseline: sing-box 1.12.12", "Candidate: sing-box (next)", "Candidate against baseline",
		"Coverage of the types of sing-box, by sing-box 1.12.12", "Coverage of the types of sing-box, by sing-box (next)", "What each protocol needs, and what of it has no row"}
	if !slices.Equal(titles, want) {
		t.Fatalf("tables are %q, want %q", titles, want)
	}
	for index, wanted := range [][][]string{
		{{"trojan", "measured"}, {"tuic", "measured"}},
		{{"trojan", "measured"}, {"tuic", "refused configuration"}},
		{{tickBad, "trojan", "50 % (45–55 %) *", "101 % (90–110 %)", "102 % (80–130 %)", "150 % (140–160 %) *", "4 of 3", "99 % (98–100 %)", "throughput missed, memory uncertain"}},
		{{tickOK, "inbound", "trojan", "trojan: measured"}},
		{{tickOK, "inbound", "trojan", "trojan: measured"}},
		{{"naive", "naive", "naive-client", format.None}},
	} {
		for row, cells := range wanted {
			if got := tables[index].Rows[row][:len(cells)]; !slices.Equal(got, cells) {
				t.Errorf("%s: row %d is %q, want %q", titles[index], row, got, cells)
			}
		}
	}
	notes := strings.Join(slices.Concat(tables[1].Notes, tables[2].Notes), "\n")
	for _, part := range []string{"tuic: refused configuration: unknown type.", "5 turns tell no difference: it takes 7."} {
		if !strings.Contains(notes, part) {
			t.Errorf("no %q in %s", part, notes)
		}
	}
}

func TestFurtherTurnsAndLooksAreSaid(t *testing.T) {
	p := compared()
	p.TurnsToMiss, p.Turns, p.Rows[0].Turns, p.Rows[1].Turns = 10, 8, 8, 8
	p.Looks = []result.ProtocolLook{{Confidence: 0.96}}
	told := func() string {
		return strings.Join(slices.Concat(figuresTable(p, "", p.Baseline, baselineOf).Notes, comparisonTable(p).Notes), "\n")
	}
	for _, part := range []string{"Medians of 8 turns, each with", "signed-rank interval at 96 %. ", "8 turns cannot tell that one of so many targets is missed: it takes 10."} {
		if !strings.Contains(told(), part) {
			t.Errorf("no %q in %s", part, told())
		}
	}
	p.Rows[0].Turns = 18
	p.Looks = []result.ProtocolLook{{Turns: new(8), Confidence: 0.98}, {Turns: new(18), Confidence: 0.99333}}
	for _, part := range []string{"did not decide: trojan (18); all, each", "interval at 98 % after 8 turns, 99.33 % after 18 turns. "} {
		if !strings.Contains(told(), part) {
			t.Errorf("no %q in %s", part, told())
		}
	}
	if strings.Contains(told(), "cannot tell that one") {
		t.Error("18 turns can")
	}
}

func TestTunnelsHaveColumnsOfTheirOwn(t *testing.T) {
	p := compared()
	p.ExtraTurns = 2
	if notes := strings.Join(figuresTable(p, "", p.Baseline, baselineOf).Notes, "\n"); strings.Contains(notes, "tunnels or more") {
		t.Errorf("no such tunnels were opened: %s", notes)
	}
	figures := p.Rows[0].Baseline.Figures
	figures["tunnels_50_p95_ms"], figures["tunnels_2000_p95_ms"], figures["tunnels_2000_anon_mib"] = spreadOf(1.5), nil, spreadOf(70)
	table := figuresTable(p, "", p.Baseline, baselineOf)
	want := []string{"50 tunnels P95 (ms)", "2,000 tunnels P95 (ms)", "Own memory, 2,000 tunnels (MiB)"}
	at := len(table.Head) - len(want)
	if !slices.Equal(table.Head[at:], want) {
		t.Errorf("head is %q, want %q", table.Head[at:], want)
	}
	if cells := table.Rows[0][at:]; !slices.Equal(cells, []string{"1.50", format.None, "70.0"}) {
		t.Errorf("cells are %q", cells)
	}
	if notes := strings.Join(table.Notes, "\n"); !strings.Contains(notes, "are of 2 turns, 500 tunnels or more of 1,") {
		t.Errorf("notes: %s", notes)
	}
}

func TestWhichProgramAndWhatItIsToldIsSaid(t *testing.T) {
	p := compared()
	p.Baseline.SHA256, p.Rows[0].ToldMbitPerS = new("ab12"), new(1000.0)
	notes := strings.Join(figuresTable(p, "", p.Baseline, baselineOf).Notes, "\n")
	for _, part := range []string{"SHA-256 of the program: ab12.", "bounds the throughput: trojan (1000 Mbit/s). Compare CPU."} {
		if !strings.Contains(notes, part) {
			t.Errorf("no %q in %s", part, notes)
		}
	}
	if notes := strings.Join(comparisonTable(p).Notes, "\n"); !strings.Contains(notes, "a rate that it is told, may bound the baseline") {
		t.Errorf("comparison: %s", notes)
	}
}

func TestNoProtocolsNoTables(t *testing.T) {
	if tables := protocolTables(result.Result{}); len(tables) != 0 {
		t.Errorf("%d tables", len(tables))
	}
}

func TestWhereTheMeasuringSideMayBeTheBound(t *testing.T) {
	p := compared()
	p.Candidate.Engine = "xray"
	for index := range p.Rows {
		p.Rows[index].Multiplex = true
	}
	p.Rows[0].Baseline.Figures["measuring_cpus"] = spreadOf(0.97)
	p.Rows[1].Baseline.Figures["measuring_cpus"] = spreadOf(0.5)
	tables := protocolTables(result.Result{Protocols: &p})
	notes := strings.Join(tables[0].Notes, "\n")
	if !strings.Contains(notes, "in writes of 64 KiB: trojan (0.97).") {
		t.Errorf("baseline: %s", notes)
	}
	if notes := strings.Join(tables[1].Notes, "\n"); strings.Contains(notes, "Probe and far end") {
		t.Errorf("candidate: %s", notes)
	}
	notes = strings.Join(tables[2].Notes, "\n")
	if !strings.Contains(notes, "two protocols of one name") || !strings.Contains(notes, "bound the baseline") {
		t.Errorf("comparison: %s", notes)
	}
	p.Rows[0].Baseline.Figures["measuring_cpus"] = spreadOf(0.89)
	p.Rows[0].Comparison[0].Judged = "bound"
	table := comparisonTable(p)
	if notes := strings.Join(table.Notes, "\n"); strings.Contains(notes, "bound the baseline") {
		t.Errorf("comparison: %s", notes)
	}
	if row := table.Rows[0]; row[0] != tickUnknown || row[len(row)-1] != "throughput bound, memory uncertain" {
		t.Errorf("bound: %q", row)
	}
}

func TestARowWithErrorsIsNotMet(t *testing.T) {
	one, low, high := 1.0, 0.95, 1.04
	errors := side("errors", "14 × closed")
	row := result.ProtocolRow{Row: "vless", Baseline: side(result.Measured, ""), Candidate: &errors,
		Comparison: []result.ProtocolComparison{{Target: "throughput", Ratio: &one, Low: &low, High: &high, Judged: "met"}}}
	cells := comparisonTable(result.Protocols{Rows: []result.ProtocolRow{row}}).Rows[0]
	if cells[0] != tickBad || cells[len(cells)-1] != "errors" {
		t.Errorf("%q", cells)
	}
	known := "closes now and then"
	errors.Known = &known
	if cells := comparisonTable(result.Protocols{Rows: []result.ProtocolRow{row}}).Rows[0]; cells[0] != tickOK {
		t.Errorf("%q, though the fault is known", cells)
	}
}

func TestManyTimesAreNoPerCents(t *testing.T) {
	for _, c := range []struct {
		ratio, low, high float64
		want             string
	}{{0.97, 0.91, 1.04, "97 % (91–104 %)"}, {576.66, 540.2, 610, "577 × (540 ×–610 ×)"}, {9.4, 8.8, 10.2, "940 % (880 %–10 ×)"}} {
		if got := ratio(result.ProtocolComparison{Ratio: &c.ratio, Low: &c.low, High: &c.high}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
