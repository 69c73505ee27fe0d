// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/machine"
	"windtunnel/k6/internal/result"
)

// An unknown fact equals nothing. This file names the facts that a result does not tell, and the files of such results.

// unknownFacts are the facts that decide whether any two runs can be compared, and that r does not tell.
func unknownFacts(r result.Result) []string {
	all := machine.Unknown(r.Run.Host)
	if !isKnown(r.Run.Versions["windtunnel"]) {
		all = append(all, "the windtunnel version")
	}
	return all
}

// unknownSettings are settings of the host's kernel. A machine without a CPU governor is normal, and so is a result from before settings
// were recorded.
func unknownSettings(r result.Result) []string {
	if r.Run.Host == nil {
		return nil
	}
	s := r.Run.Host.Settings
	if s == nil {
		return []string{"the settings of the host's kernel"}
	}
	var all []string
	for _, setting := range []struct {
		name  string
		known bool
	}{
		{"tcp_congestion_control", s.CongestionControl != nil}, {"rmem_max", s.RMemMaxBytes != nil}, {"wmem_max", s.WMemMaxBytes != nil},
		{"somaxconn", s.SOMaxConn != nil},
	} {
		if !setting.known {
			all = append(all, "the host's "+setting.name)
		}
	}
	return all
}

// unknownGenerator are versions of ours that need not be the same.
func unknownGenerator(r result.Result) []string {
	var all []string
	for _, name := range ofGenerator {
		if !isKnown(r.Run.Versions[name]) {
			all = append(all, "the "+strings.ReplaceAll(name, "_", " "))
		}
	}
	return all
}

// isKnown reports whether a version says anything. A revision ends in -unknown if git could not tell whether files differ from it.
func isKnown(version string) bool {
	return version != "" && version != "unknown" && version != format.None && !strings.HasSuffix(version, "-unknown")
}

// lacking says which of the facts are unknown in which runs; "" where all are known.
func lacking(runs []Measured, facts func(result.Result) []string) string {
	in := map[string][]string{}
	for _, m := range runs {
		if m.Result == nil {
			continue
		}
		if all := facts(*m.Result); len(all) > 0 {
			names := strings.Join(all, ", ")
			in[names] = append(in[names], m.File)
		}
	}
	var told []string
	for _, names := range slices.Sorted(maps.Keys(in)) {
		told = append(told, fmt.Sprintf("%s (%s)", names, files(in[names])))
	}
	return strings.Join(told, "; ")
}

// unknownRefused names in one line the deciding facts that are unknown. Runs that took turns were made by
// one process on one machine, whatever is known of that machine.
func unknownRefused(a, b []Measured) string {
	facts := lacking(slices.Concat(a, b), unknownFacts)
	if facts == "" || interleaved(a, b) {
		return ""
	}
	return "these runs cannot be compared: an unknown fact equals nothing, and unknown is " + facts
}

// unknownNotes tell of unknown facts that do not refuse runs.
func unknownNotes(q Request) []string {
	var notes []string
	note := func(facts, rest string) {
		if facts != "" {
			notes = append(notes, "unknown is "+facts+rest)
		}
	}
	all := slices.Concat(q.A, q.B)
	if interleaved(q.A, q.B) {
		note(lacking(all, unknownFacts), "; the runs took turns on one machine")
	} else {
		note(lacking(all, unknownFacts), ", so the runs may differ in it")
	}
	note(lacking(all, unknownSettings), ", so the runs may differ in it")
	note(lacking(all, unknownGenerator), ", so the runs may differ in it")
	for _, side := range []struct {
		name  string
		runs  []Measured
		bytes bool
	}{{"A", q.A, len(q.ContentsA) > 0}, {"B", q.B, len(q.ContentsB) > 0}} {
		if !side.bytes {
			note(lacking(side.runs, unknownSystem(side.name)), ", so its runs may be of several builds")
		}
	}
	return notes
}

// unknownSystem is the version of a side's system. Many a system has none.
func unknownSystem(side string) func(result.Result) []string {
	return func(r result.Result) []string {
		versions := systemVersions(r)
		for _, version := range versions {
			if isKnown(version) {
				return nil
			}
		}
		return []string{"the version of " + side + "'s system"}
	}
}
