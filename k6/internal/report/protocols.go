// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
)

// protocolTables are the outcome and the figures of each row, the comparison, and what the rows cover.
func protocolTables(r result.Result) []Table {
	p := r.Protocols
	if p == nil {
		return nil
	}
	tables := []Table{figuresTable(*p, "Baseline", p.Baseline, baselineOf)}
	if p.Candidate != nil {
		tables = append(tables, figuresTable(*p, "Candidate", *p.Candidate, candidateOf), comparisonTable(*p))
	}
	return append(tables, coverageTables(*p)...)
}

// program is `sing-box 1.12.12`, where the version is known, and the file's name where it is another.
func program(p result.Program) string {
	name := p.Engine
	if p.Version != nil && *p.Version != "unknown" { // what sing-box says of itself, built without one
		name += " " + *p.Version
	}
	if p.Binary != p.Engine {
		name += " (" + p.Binary + ")"
	}
	return name
}

// protocolFigure is a column of the figures: the median of the turns.
type protocolFigure struct {
	head, name string
	write      func(*float64) string
}

func digits(count int) func(*float64) string {
	return func(v *float64) string { return decimals(v, 1, count) }
}

const atRestFigure = "rest_cpu_percent"

var protocolFigures = []protocolFigure{
	{"First reply (ms)", "handshake_ms", digits(3)},
	{"RTT (ms)", "rtt_ms", digits(3)},
	{"1 KiB (Mbit/s)", "mbit_1k", format.Mbit},
	{"64 KiB (Mbit/s)", "mbit_64k", format.Mbit},
	{"1 MiB (Mbit/s)", "mbit_1m", format.Mbit},
	{"Up, 64 KiB (Mbit/s)", "mbit_64k_up", format.Mbit},
	{"UDP RTT (ms)", "udp_rtt_ms", digits(3)},
	{"UDP lost", "udp_lost_share", format.Share},
	{"CPU (s/GiB)", "cpu_s_per_gib", digits(2)},
	{"CPU at rest (%)", atRestFigure, digits(1)},
	{"Peak own memory (MiB)", "peak_anon_mib", digits(1)},
	{"Peak RSS (MiB)", "peak_rss_mib", digits(1)},
}

var tunnelsP95 = regexp.MustCompile(`^tunnels_(\d+)_p95_ms$`)

// tunnelCounts are the numbers of tunnels that a run opened at once, the fewest first.
func tunnelCounts(p result.Protocols) []int {
	var counts []int
	for _, row := range p.Rows {
		for _, side := range []*result.ProtocolSide{&row.Baseline, row.Candidate} {
			if side == nil {
				continue
			}
			for name := range side.Figures {
				found := tunnelsP95.FindStringSubmatch(name)
				if found == nil {
					continue
				}
				if count, err := strconv.Atoi(found[1]); err == nil && !slices.Contains(counts, count) {
					counts = append(counts, count)
				}
			}
		}
	}
	slices.Sort(counts)
	return counts
}

// figuresOf are the columns: those of every run, and those of its numbers of tunnels.
func figuresOf(p result.Protocols) []protocolFigure {
	figures := slices.DeleteFunc(slices.Clone(protocolFigures), func(f protocolFigure) bool {
		return f.name == atRestFigure && !slices.ContainsFunc(p.Rows, func(row result.ProtocolRow) bool { // kept from before it was measured
			return row.Baseline.Figures[f.name] != nil || row.Candidate != nil && row.Candidate.Figures[f.name] != nil
		})
	})
	counts := tunnelCounts(p)
	for _, count := range counts {
		figures = append(figures, protocolFigure{fmt.Sprintf("%s tunnels P95 (ms)", format.Count(int64(count))), fmt.Sprintf("tunnels_%d_p95_ms", count), digits(2)})
	}
	if len(counts) > 0 {
		most := counts[len(counts)-1]
		figures = append(figures, protocolFigure{fmt.Sprintf("Own memory, %s tunnels (MiB)", format.Count(int64(most))), fmt.Sprintf("tunnels_%d_anon_mib", most), digits(1)})
	}
	return figures
}

func figuresTable(p result.Protocols, name string, ran result.Program, side sideOf) Table {
	t := Table{Title: name + ": " + program(ran), Head: []string{"Protocol", "Outcome"}, Numbers: 2, State: -1}
	figures := figuresOf(p)
	for _, f := range figures {
		t.Head = append(t.Head, f.head)
	}
	var bound, told []string
	for _, row := range p.Rows {
		own := side(row)
		if own == nil {
			continue
		}
		cells := []string{row.Row, own.Outcome}
		for _, f := range figures {
			cells = append(cells, median(own.Figures[f.name], f.write))
		}
		t.Rows = append(t.Rows, cells)
		if mayBound(p, *own) {
			bound = append(bound, fmt.Sprintf("%s (%.2f)", row.Row, own.Figures["measuring_cpus"].Median))
		}
		if row.ToldMbitPerS != nil {
			told = append(told, fmt.Sprintf("%s (%.0f Mbit/s)", row.Row, *row.ToldMbitPerS))
		}
		if own.Detail != nil {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %s: %s.", row.Row, own.Outcome, *own.Detail))
		}
		if own.Outcome == "errors" && own.Known != nil {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: known: %s.", row.Row, *own.Known))
		}
	}
	t.Notes = append(t.Notes, fmt.Sprintf("Medians of %d turns%s, each with processes of its own. First reply is from dialling the client until 64 bytes are back; "+
		"throughput is of downloads in writes of that size, or of uploads; tunnels are all open at once; these, datagrams, uploads, 1 KiB and 1 MiB are of %d turns%s, so that they tell factors and no per cents. Writes of 1 KiB are bound by the sender's system calls. CPU and memory are of all clients and servers of a row together, with one tunnel open unless the column says otherwise. Own memory is resident memory without pages of files, of which as many are resident as the kernel's page cache happens to map.", p.Turns, furtherTurns(p), p.ExtraTurns, fewerTurns(p)))
	if sha := ran.SHA256; sha != nil {
		t.Notes = append(t.Notes, "SHA-256 of the program: "+*sha+".")
	}
	for _, other := range ran.Ran {
		if ran.SHA256 == nil || other.SHA256 != *ran.SHA256 {
			t.Notes = append(t.Notes, fmt.Sprintf("What really ran, among others or in its place: %s, SHA-256 %s.", other.File, other.SHA256))
		}
	}
	if len(bound) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("Probe and far end, a thread each, used %.1f CPUs or more in writes of 64 KiB: %s. "+
			"There they may be what bounds the throughput, all the more where both share a CPU, and a difference between two programs looks smaller than it is: compare CPU.",
			p.MeasuringBoundCPUs, strings.Join(bound, ", ")))
	}
	if len(told) > 0 {
		t.Notes = append(t.Notes, "Told what to send at, which bounds the throughput: "+strings.Join(told, ", ")+". Compare CPU.")
	}
	return t
}

// furtherTurns names the rows that have more turns than were planned.
func furtherTurns(p result.Protocols) string {
	var more []string
	for _, row := range p.Rows {
		if row.Turns > p.Turns {
			more = append(more, fmt.Sprintf("%s (%d)", row.Row, row.Turns))
		}
	}
	if len(more) == 0 {
		return ""
	}
	return ", and further ones of rows that these did not decide: " + strings.Join(more, ", ") + "; all"
}

// looksTold says when the rows were judged, and how sure an interval is.
func looksTold(p result.Protocols) string {
	var told []string
	for _, look := range p.Looks {
		text := fmt.Sprintf("%.4g %%", look.Confidence*100)
		if look.Turns != nil {
			text += fmt.Sprintf(" after %d turns", *look.Turns)
		}
		told = append(told, text)
	}
	if len(told) == 0 {
		return ""
	}
	return " at " + strings.Join(told, ", ")
}

// manyTunnels, and more, are opened in half of the extra turns (scripts/protocols/matrix.js).
const manyTunnels = 500

// fewerTurns says of how many turns many tunnels are, where they were opened at all.
func fewerTurns(p result.Protocols) string {
	counts := tunnelCounts(p)
	if len(counts) == 0 || counts[len(counts)-1] < manyTunnels {
		return ""
	}
	return fmt.Sprintf(", %d tunnels or more of %d", manyTunnels, (p.ExtraTurns+1)/2)
}

// mayBound tells whether probe and far end may be what bounds the transfers of a side.
func mayBound(p result.Protocols, side result.ProtocolSide) bool {
	cpus := side.Figures["measuring_cpus"]
	return cpus != nil && cpus.Median >= p.MeasuringBoundCPUs
}

func median(s *result.Spread, write func(*float64) string) string {
	if s == nil {
		return format.None
	}
	return write(&s.Median)
}

// tripsColumn is where round trips are told, in runs that counted them.
const tripsColumn = 6

func comparisonTable(p result.Protocols) Table {
	counted := slices.ContainsFunc(p.Rows, func(row result.ProtocolRow) bool { return row.RoundTrips != nil })
	t := Table{Title: "Candidate against baseline", Head: []string{"", "Protocol", "Throughput", "RTT", "Memory", "First reply", "CPU", "Targets"}, Numbers: -1, State: 0}
	if counted {
		t.Head = slices.Insert(t.Head, tripsColumn, "Round trips")
	}
	for _, row := range p.Rows {
		if len(row.Comparison) == 0 {
			continue
		}
		ratios := map[string]string{}
		verdict := "met"
		var flagged []string
		for _, c := range row.Comparison {
			ratios[c.Target] = ratio(c)
			unclear := c.Judged == "uncertain" || c.Judged == "bound"
			if c.Judged == "missed" || unclear && verdict == "met" {
				verdict = c.Judged
			}
			if c.Judged == "missed" || unclear {
				flagged = append(flagged, c.Target+" "+c.Judged)
			}
		}
		trips := format.None
		if row.RoundTrips != nil {
			trips = fmt.Sprintf("%d of %d", row.RoundTrips.Candidate, row.RoundTrips.Baseline)
			if !row.RoundTrips.OK {
				verdict, flagged = "missed", append(flagged, "round trips missed")
			}
		}
		if failed := failedSides(row); len(failed) > 0 {
			verdict, flagged = "missed", append(failed, flagged...)
		}
		state := map[string]*bool{"met": new(true), "missed": new(false)}[verdict]
		targets := "met"
		if len(flagged) > 0 {
			targets = strings.Join(flagged, ", ")
		}
		cells := []string{tick(state), row.Row, ratios["throughput"], ratios["latency"], ratios["memory"], cmp.Or(ratios["first reply"], format.None), cmp.Or(ratios["CPU"], format.None), targets}
		if counted {
			cells = slices.Insert(cells, tripsColumn, trips)
		}
		t.Rows = append(t.Rows, cells)
	}
	if p.Targets == nil || len(t.Rows) == 0 {
		return t
	}
	holm := "all targets of all rows"
	if len(p.Looks) == 0 { // kept from before
		holm = "the row's targets"
	}
	t.Notes = []string{
		fmt.Sprintf("Targets: throughput (64 KiB) at least %s, RTT at most %s, memory at most %s of the baseline%s. Missed: the candidate is significantly beyond the target, with %s counted, "+
			"and the ratio by more than %s; met: none of the interval is beyond by more than that; else the turns differ too much, or are too few, to tell.",
			percent(p.Targets.Throughput), percent(p.Targets.Latency), percent(p.Targets.Memory), waitsTold(*p.Targets), holm, percent(p.Targets.Tolerance)),
		"Candidate by baseline, of pairs of turns (Hodges and Lehmann), with the exact signed-rank interval" + looksTold(p) + ". " +
			"An asterisk marks a difference that chance alone makes in less than 1 of 20. " + withoutTarget(*p.Targets),
	}
	if slices.ContainsFunc(p.Rows, func(row result.ProtocolRow) bool {
		return row.Candidate != nil && (mayBound(p, row.Baseline) || row.ToldMbitPerS != nil)
	}) {
		t.Notes = append(t.Notes, "Where probe and far end, or a rate that it is told, may bound the baseline, a throughput is bound, not met, if the candidate takes so much more CPU that it would miss the target by that.")
	}
	if p.Baseline.Engine != p.Candidate.Engine && slices.ContainsFunc(p.Rows, func(row result.ProtocolRow) bool {
		return row.Multiplex && len(row.Comparison) > 0
	}) {
		t.Notes = append(t.Notes, "Rows with mux compare two protocols of one name: sing-box's multiplex (h2mux) and xray's mux (Mux.Cool).")
	}
	most := p.Turns
	for _, row := range p.Rows {
		most = max(most, row.Turns)
	}
	switch {
	case most < p.FewestTurns:
		t.Notes = append(t.Notes, fmt.Sprintf("%d turns tell no difference: it takes %d.", most, p.FewestTurns))
	case most < p.TurnsToMiss:
		t.Notes = append(t.Notes, fmt.Sprintf("%d turns cannot tell that one of so many targets is missed: it takes %d.", most, p.TurnsToMiss))
	}
	return t
}

// waitsTold are the targets of what users wait for beside round trips, "" in runs that had none.
func waitsTold(t result.ProtocolTargets) string {
	if t.FirstReply == 0 {
		return ""
	}
	return fmt.Sprintf(", first reply at most %s, round trips of the hop until a tunnel has opened, answered and closed at most %s", percent(t.FirstReply), percent(t.RoundTrips))
}

// withoutTarget says what is told beside the targets.
func withoutTarget(t result.ProtocolTargets) string {
	if t.FirstReply == 0 {
		return "First reply and CPU (for each GiB) have no target."
	}
	return "CPU (for each GiB) has no target."
}

// failedSides says how the sides of a row ended that did not end well, whatever their figures are.
func failedSides(row result.ProtocolRow) []string {
	var failed []string
	if side := row.Baseline; side.Outcome != result.Measured && side.Known == nil {
		failed = append(failed, "baseline: "+side.Outcome)
	}
	if side := row.Candidate; side != nil && side.Outcome != result.Measured && side.Known == nil {
		failed = append(failed, side.Outcome)
	}
	return failed
}

// ratio is `97 % (91–104 %)`, with an asterisk where it differs from 100 %.
func ratio(c result.ProtocolComparison) string {
	if c.Ratio == nil {
		return format.None
	}
	text := multiple(*c.Ratio)
	switch {
	case c.Low == nil || c.High == nil:
	case *c.High >= manyTimes:
		text += fmt.Sprintf(" (%s–%s)", multiple(*c.Low), multiple(*c.High))
	default:
		text += fmt.Sprintf(" (%.0f–%s)", *c.Low*100, percent(*c.High))
	}
	if c.Different {
		text += " *"
	}
	return text
}

// manyTimes is a ratio from which on per cents are no help.
const manyTimes = 10.0

// multiple is `97 %`, and `577 ×` of what is many times as much.
func multiple(ratio float64) string {
	if ratio >= manyTimes {
		return fmt.Sprintf("%.0f ×", ratio)
	}
	return percent(ratio)
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", share*100) }
