// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/testbed"
)

// field is a property that all runs of a comparison must share.
type field struct {
	name string
	of   func(result.Result) any
}

// common are the fields that must be the same in all runs, except parameters.
var common = []field{
	{"scenario", func(r result.Result) any { return r.Name() }},
	{"profile", func(r result.Result) any { return r.Run.Profile }},
	{"placement", func(r result.Result) any { return deref(r.Run.Placement) }},
	{"host", func(r result.Result) any { return deref(withoutSettings(r.Run.Host)) }},
	{"settings of the host", func(r result.Result) any {
		if r.Run.Host == nil || r.Run.Host.Settings == nil {
			return unrecorded{}
		}
		return *r.Run.Host.Settings
	}},
	{"limits that others set", func(r result.Result) any {
		if r.Limits.OfOthers() == nil {
			return unrecorded{}
		}
		return *r.Limits.OfOthers()
	}},
	{"settings of the link", func(r result.Result) any {
		if r.Run.Link == nil {
			return nil
		}
		return linkSettings{r.Run.Link.Seed, r.Run.Link.MTU, r.Run.Link.Settings}
	}},
	{"settings of the link's ends", func(r result.Result) any {
		if r.Run.Link == nil {
			return nil
		}
		return linkEnds{r.Run.Link.Near.Settings, r.Run.Link.Far.Settings}
	}},
	{"windtunnel version", func(r result.Result) any { return cmp.Or(r.Run.Versions["windtunnel"], format.None) }},
}

// linkSettings and linkEnds are the properties of a link that affect a figure. The link's words are a parameter.
type (
	linkSettings struct {
		Seed     uint64              `json:"seed"`
		MTU      int                 `json:"mtu"`
		Settings result.LinkSettings `json:"settings"`
	}
	linkEnds struct {
		Near result.NetworkSettings `json:"near"`
		Far  result.NetworkSettings `json:"far"`
	}
)

// ofOneSide are the fields that must be the same only within one side.
func ofOneSide(beds func(name string) testbed.Testbed) []field {
	return []field{
		{"testbed", func(r result.Result) any {
			if r.Run.Testbed == nil {
				return "none"
			}
			return r.Run.Testbed.Name
		}},
		{"testbed variables", func(r result.Result) any { return withoutPorts(r.Run.Testbed, beds) }},
		{"versions", func(r result.Result) any { return systemVersions(r) }},
	}
}

// Refusal says in one line why runs cannot be compared, with the fields and both values; "" if they can be. beds returns
// what a testbed declares, or the zero value if that is unknown.
func Refusal(a, b []Measured, beds func(name string) testbed.Testbed) string {
	resultsA, resultsB := results(a), results(b)
	if len(resultsA) == 0 || len(resultsB) == 0 {
		return ""
	}
	if why := refusal(resultsA, resultsB, common, beds); why != "" {
		return why
	}
	if why := unknownRefused(a, b); why != "" {
		return why
	}
	if why := repeated(a, b); why != "" {
		return "these runs cannot be compared: " + why
	}
	return ""
}

// differ reports whether the sides ran with different settings, so that Refusal will refuse them.
func (q Request) differ() bool {
	a, b := results(q.A), results(q.B)
	return len(a) > 0 && len(b) > 0 && refusal(a, b, common, q.Beds) != ""
}

// refusal is Refusal for results with the given common fields.
func refusal(resultsA, resultsB []result.Result, common []field, beds func(name string) testbed.Testbed) string {
	all := append(slices.Clone(resultsA), resultsB...)
	fields := slices.Clone(common)
	fields = append(fields, parameters(all)...)
	var differ []string
	for _, f := range fields {
		for _, r := range all[1:] {
			if !agree(f.of(all[0]), f.of(r)) {
				differ = append(differ, fmt.Sprintf("%s (%s and %s)", f.name, show(f.of(all[0])), show(f.of(r))))
				break
			}
		}
	}
	if len(differ) > 0 {
		return "these runs cannot be compared: they differ in " + strings.Join(differ, ", ")
	}
	for _, side := range []struct {
		name string
		runs []result.Result
	}{{"A", resultsA}, {"B", resultsB}} {
		for _, f := range ofOneSide(beds) {
			for _, r := range side.runs[1:] {
				if !reflect.DeepEqual(f.of(side.runs[0]), f.of(r)) {
					return fmt.Sprintf("the runs of %s are not of one thing: they differ in %s (%s and %s)", side.name,
						f.name, show(f.of(side.runs[0])), show(f.of(r)))
				}
			}
		}
	}
	return ""
}

// unrecorded is the value of a field in a result that is older than the field: it agrees with any value.
type unrecorded struct{}

func agree(a, b any) bool {
	return a == unrecorded{} || b == unrecorded{} || reflect.DeepEqual(a, b)
}

func withoutSettings(h *result.Host) *result.Host {
	if h == nil {
		return nil
	}
	own := *h
	own.Settings = nil
	return &own
}

func results(runs []Measured) []result.Result {
	measured := seq.Filter(runs, func(m Measured) bool { return m.Result != nil })
	return seq.Map(measured, func(m Measured) result.Result { return *m.Result })
}

func parameters(all []result.Result) []field {
	names := map[string]bool{}
	for _, r := range all {
		for name := range r.Run.Parameters {
			names[name] = true
		}
	}
	var fields []field
	for _, name := range slices.Sorted(maps.Keys(names)) {
		fields = append(fields, field{"parameter " + name, func(r result.Result) any {
			if v, ok := r.Run.Parameters[name]; ok {
				return v
			}
			return format.None
		}})
	}
	return fields
}

// withoutPorts returns the variables of a testbed that describe the system.
func withoutPorts(of *result.Testbed, beds func(string) testbed.Testbed) map[string]any {
	kept := map[string]any{}
	if of == nil {
		return kept
	}
	bed := beds(of.Name)
	for name, v := range of.Variables {
		if !bed.IsPort(name) {
			kept[name] = v
		}
	}
	return kept
}

func systemVersions(r result.Result) map[string]string {
	versions := map[string]string{}
	for name, version := range r.Run.Versions {
		if name != "k6" && !strings.HasPrefix(name, "windtunnel") {
			versions[name] = version
		}
	}
	return versions
}

// ofGenerator are versions of Windtunnel that may differ between runs.
var ofGenerator = []string{"windtunnel_revision", "k6"}

// generatorDiffers names other properties of the generator that differ between runs. They are reported, but the
// comparison is not refused.
func generatorDiffers(all []result.Result) []string {
	var notes []string
	for _, name := range ofGenerator {
		for _, r := range all[1:] {
			if first, own := all[0].Run.Versions[name], r.Run.Versions[name]; first != own {
				notes = append(notes, fmt.Sprintf("the runs differ in %s (%s and %s)", strings.ReplaceAll(name, "_", " "), cmp.Or(first, format.None), cmp.Or(own, format.None)))
				break
			}
		}
	}
	return notes
}

// streamingDiffers reports a difference in streaming, which slightly loads the measured machine.
func streamingDiffers(runs []Measured) []string {
	words := map[bool]string{true: "streamed", false: "not streamed"}
	var first *bool
	var unknown []string
	for _, m := range runs {
		switch {
		case m.Streamed == nil:
			unknown = append(unknown, m.File)
		case first == nil:
			first = m.Streamed
		case *first != *m.Streamed:
			return []string{fmt.Sprintf("the runs differ in streaming to InfluxDB (%s and %s)", words[*first], words[*m.Streamed])}
		}
	}
	if first != nil && len(unknown) > 0 {
		return []string{fmt.Sprintf("some runs were %s; whether %s were is unknown", words[*first], files(unknown))}
	}
	return nil
}

func deref[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func show(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if v == nil {
		return "none"
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

// repeated names in one line a run that appears more than once; "" if all differ. Pairs are evidence only if they are
// independent, so a copied run must not count twice.
func repeated(a, b []Measured) string {
	type place struct{ side, file string }
	ids, digests := map[string]place{}, map[[sha256.Size]byte]place{}
	for _, side := range []struct {
		name string
		runs []Measured
	}{{"A", a}, {"B", b}} {
		for _, m := range side.runs {
			if m.Result == nil {
				continue
			}
			here := place{side.name, m.File}
			if there, met := ids[m.Result.Run.ID]; met && m.Result.Run.ID != "" {
				return fmt.Sprintf("%s of %s and %s of %s are the same run, %s: give each run once", there.file, there.side, here.file, here.side, m.Result.Run.ID)
			}
			ids[m.Result.Run.ID] = here
			digest, measured := digestOf(*m.Result)
			if !measured {
				continue
			}
			if there, met := digests[digest]; met {
				return fmt.Sprintf("%s of %s and %s of %s have the same figures to the last digit: one is a copy of the other", there.file, there.side, here.file, here.side)
			}
			digests[digest] = here
		}
	}
	return ""
}

// digestOf is the SHA-256 of a run's measurements; it returns false for a run without latencies, whose counts may be
// equal by chance.
func digestOf(r result.Result) (digest [sha256.Size]byte, measured bool) {
	for _, op := range r.Operations {
		measured = measured || op.LatencyMS != nil
	}
	data, err := json.Marshal([]any{r.Operations, r.Processes})
	return sha256.Sum256(data), measured && err == nil
}
