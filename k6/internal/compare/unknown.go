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
	"windtunnel/k6/internal/seq"
)

// An unknown fact equals nothing. This file finds the facts that a result lacks, and names the files of such results.

// unknownFacts are the facts missing in r without which no two runs can be compared.
func unknownFacts(r result.Result) []string {
	all := machine.Unknown(r.Run.Host)
	if !isKnown(r.Run.Versions["windtunnel"]) {
		all = append(all, "the windtunnel version")
	}
	return all
}

// unknownSettings are missing settings of the host's kernel. A machine without a CPU governor is normal, and so is a
// result that is older than the recording of settings.
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

// unknownGenerator are missing versions of Windtunnel, which may differ between runs.
func unknownGenerator(r result.Result) []string {
	unknown := seq.Filter(ofGenerator, func(name string) bool { return !isKnown(r.Run.Versions[name]) })
	return seq.Map(unknown, func(name string) string { return "the " + strings.ReplaceAll(name, "_", " ") })
}

// isKnown reports whether a version is known. A revision ends in -unknown if git could not say whether files differ from
// it.
func isKnown(version string) bool {
	return version != "" && version != "unknown" && version != format.None && !strings.HasSuffix(version, "-unknown")
}

// lacking says which facts are unknown in which runs; "" if all are known.
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
	texts := seq.Map(slices.Sorted(maps.Keys(in)), func(names string) string { return fmt.Sprintf("%s (%s)", names, files(in[names])) })
	return strings.Join(texts, "; ")
}

// unknownRefused names in one line the required facts that are unknown. Runs in turns come from one process on one
// machine, so they need no facts about the machine.
func unknownRefused(a, b []Measured) string {
	facts := lacking(slices.Concat(a, b), unknownFacts)
	if facts == "" || interleaved(a, b) {
		return ""
	}
	return "these runs cannot be compared: an unknown fact equals nothing, and unknown is " + facts
}

// unknownNotes reports unknown facts that do not prevent a comparison.
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

// unknownSystem is the missing version of a side's system. Many systems have no version.
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
