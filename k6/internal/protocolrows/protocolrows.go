// SPDX-License-Identifier: AGPL-3.0-only

// Package protocolrows reads the protocol matrix: a file for each protocol with its rows, and one for each engine.
package protocolrows

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/schema"
)

// Matrix is the content of testbeds/protocols. The fields of rows, protocols and engines are the same as in their files:
// schemas/protocol-row.schema.json, schemas/protocol-engine.schema.json.
type Matrix struct {
	Rows      []Row               `json:"rows"`
	Protocols map[string]Protocol `json:"protocols"`
	Engines   map[string]Engine   `json:"engines"`
}

// Row is a row of the protocol in its file.
type Row struct {
	Name     string         `json:"name"`
	Protocol string         `json:"protocol"`
	Row      map[string]any `json:"row"`
}

// Protocol has the properties that all rows of a file share.
type Protocol struct {
	Needs     string   `json:"needs,omitempty"`
	CarriedBy string   `json:"carried_by,omitempty"`
	LeftOut   []string `json:"left_out,omitempty"`
	// Alone says that the protocol has no server.
	Alone bool `json:"alone,omitempty"`
}

// Engine is a program that runs rows.
type Engine struct {
	Faults    map[string]string            `json:"faults"`
	Carriers  map[string]Protocol          `json:"carriers"`
	Types     map[string][]string          `json:"types"`
	Uncovered map[string]map[string]string `json:"uncovered"`
	Instead   map[string]string            `json:"instead"`
	// Without, WithoutServer and WithoutClient say, by patterns of rows' names, why the engine runs neither end of a row, or only one.
	Without       map[string]string `json:"without,omitempty"`
	WithoutServer map[string]string `json:"without_server,omitempty"`
	WithoutClient map[string]string `json:"without_client,omitempty"`
	Parts         Parts             `json:"parts"`
}

// Parts are the parts of an engine in the testbed: the engine whose configuration it reads, its program, a template, and what
// it multiplexes by. Protocols are its whole configurations, by protocol, if no template makes them.
type Parts struct {
	Reads     string         `json:"reads"`
	Program   string         `json:"program"`
	Mux       string         `json:"mux,omitempty"`
	Protocols map[string]any `json:"protocols,omitempty"`
}

// carrying is the engine whose carriers the protocols name.
const carrying = "sing-box"

// file has the keys of rows/PROTOCOL.toml that this package reads; the sidecar reads the others.
type file struct {
	Protocol
	Rows  map[string]map[string]any `json:"rows"`
	Parts map[string]any            `json:"parts"`
}

// rowKeys has the keys of a row that are checked beyond the schema.
type rowKeys struct {
	Order         *int              `json:"order"`
	Known         map[string]string `json:"known"`
	OfDatagrams   map[string]string `json:"known_of_datagrams"`
	Without       map[string]string `json:"without"`
	WithoutServer map[string]string `json:"without_server"`
	WithoutClient map[string]string `json:"without_client"`
	FirstHop      map[string]string `json:"first_hop"`
	// Told is one of Variables, "" if the row takes no rate.
	Told      string         `json:"told"`
	Variables map[string]any `json:"variables"`
}

// Read returns the matrix in a folder, with its rows in the order of tables. For the first malformed file it returns an
// error with the file, the field and the fix.
func Read(folder string) (Matrix, error) {
	m := Matrix{Protocols: map[string]Protocol{}}
	files, err := readAll[file](folder, "rows", schema.ProtocolRow)
	if err != nil {
		return m, err
	}
	if m.Engines, err = Engines(folder); err != nil {
		return m, err
	}
	places := map[string]int{}
	for _, protocol := range slices.Sorted(maps.Keys(files)) {
		own := files[protocol]
		own.Alone = own.Parts["alone"] == true
		m.Protocols[protocol] = own.Protocol
		if _, ok := m.Engines[carrying].Carriers[own.CarriedBy]; !ok && own.CarriedBy != "" {
			return m, fmt.Errorf("rows/%s.toml: carried_by: engines/%s.toml has no carrier %s", protocol, carrying, own.CarriedBy)
		}
		for _, name := range slices.Sorted(maps.Keys(own.Rows)) {
			where := fmt.Sprintf("rows/%s.toml: rows.%s", protocol, name)
			if _, twice := places[name]; twice {
				return m, errors.New(where + ": another file has a row of that name; give it its own")
			}
			row := own.Rows[name]
			if places[name], err = m.place(row); err != nil {
				return m, fmt.Errorf("%s.%w", where, err)
			}
			variables, _ := row["variables"].(map[string]any)
			row["variables"] = withDefault(variables, "protocol", protocol)
			if err := m.leaveOut(name, row, files); err != nil {
				return m, fmt.Errorf("%s.%w", where, err)
			}
			m.Rows = append(m.Rows, Row{name, protocol, row})
		}
	}
	if err := m.checkPatterns(); err != nil {
		return m, err
	}
	slices.SortStableFunc(m.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(places[a.Name], places[b.Name]), strings.Compare(a.Name, b.Name))
	})
	return m, nil
}

// Engines returns the engines of the matrix in a folder, by name.
func Engines(folder string) (map[string]Engine, error) {
	all, err := readAll[Engine](folder, "engines", schema.ProtocolEngine)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if reads := all[name].Parts.Reads; all[reads].Parts.Reads != reads {
			return nil, fmt.Errorf("engines/%s.toml: parts.reads: there is no engines/%s.toml that reads itself", name, reads)
		}
	}
	return all, nil
}

// place is the position of a row in tables. It returns an error for an unknown engine or fault.
func (m Matrix) place(row map[string]any) (int, error) {
	var own rowKeys
	if err := document.Into(row, &own); err != nil {
		return 0, err
	}
	for key, engines := range map[string]map[string]string{"without": own.Without, "without_server": own.WithoutServer, "without_client": own.WithoutClient, "first_hop": own.FirstHop, "known": own.Known, "known_of_datagrams": own.OfDatagrams} {
		for engine, text := range engines {
			its, ok := m.Engines[engine]
			if !ok {
				return 0, fmt.Errorf("%s.%s: there is no engines/%s.toml", key, engine, engine)
			}
			if _, ok := its.Faults[text]; !ok && strings.HasPrefix(key, "known") {
				return 0, fmt.Errorf("%s.%s: engines/%s.toml has no fault %s", key, engine, engine, text)
			}
		}
	}
	if _, ok := own.Variables[own.Told]; !ok && own.Told != "" {
		return 0, fmt.Errorf("told: variables has no %s: give the rate there", own.Told)
	}
	if own.Order == nil {
		return math.MaxInt, nil
	}
	return *own.Order, nil
}

// leaveOut marks the engines that do not run a row, or only one of its ends: by their files, or because they have no part for the row's
// protocol. A reason in the row itself stays.
func (m Matrix) leaveOut(name string, row map[string]any, files map[string]file) error {
	protocol := fmt.Sprint(row["variables"].(map[string]any)["protocol"])
	parts := files[protocol].Parts
	if len(parts) == 0 {
		return fmt.Errorf("variables.protocol: there is no rows/%s.toml with parts", protocol)
	}
	for engine, its := range m.Engines {
		if engine != its.Parts.Reads {
			continue
		}
		for key, patterns := range its.lacks() {
			if why, found := matching(patterns, name); found {
				explain(row, key, engine, why)
			}
		}
		_, inRows := parts[engine]
		if _, own := its.Parts.Protocols[protocol]; !inRows && !own {
			explain(row, "without", engine, fmt.Sprintf("testbeds/protocols/rows/%s.toml has no part for %s", protocol, engine))
		}
	}
	return nil
}

// lacks has the patterns of rows that the engine does not run at both ends, by the keys of a row.
func (e Engine) lacks() map[string]map[string]string {
	return map[string]map[string]string{"without": e.Without, "without_server": e.WithoutServer, "without_client": e.WithoutClient}
}

// explain adds a reason to a row, unless the row has one.
func explain(row map[string]any, key, engine, why string) {
	reasons, _ := row[key].(map[string]any)
	row[key] = withDefault(reasons, engine, why)
}

// matching returns the text of the first pattern, in alphabetical order, that fits a row's name.
func matching(patterns map[string]string, name string) (string, bool) {
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		if fits, _ := path.Match(pattern, name); fits {
			return patterns[pattern], true
		}
	}
	return "", false
}

// checkPatterns rejects a pattern of an engine that fits no row: it would have no effect.
func (m Matrix) checkPatterns() error {
	for _, engine := range slices.Sorted(maps.Keys(m.Engines)) {
		for key, patterns := range m.Engines[engine].lacks() {
			for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
				fits := func(row Row) bool { ok, _ := path.Match(pattern, row.Name); return ok }
				if !slices.ContainsFunc(m.Rows, fits) {
					return fmt.Errorf("engines/%s.toml: %s.%s: there is no such row", engine, key, pattern)
				}
			}
		}
	}
	return nil
}

func withDefault(values map[string]any, key string, value any) map[string]any {
	all := map[string]any{key: value}
	maps.Copy(all, values)
	return all
}

func readAll[T any](folder, kind string, checked schema.Kind) (map[string]T, error) {
	names, err := fs.Glob(os.DirFS(folder), kind+"/*.toml")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("no " + kind + "/*.toml in " + folder)
	}
	all := map[string]T{}
	for _, name := range names {
		doc, err := document.Read(filepath.Join(folder, name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if problems := schema.Check(checked, doc); len(problems) > 0 {
			return nil, fmt.Errorf("%s: %s", name, problems[0])
		}
		var own T
		if err := document.Into(doc, &own); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[strings.TrimSuffix(filepath.Base(name), ".toml")] = own
	}
	return all, nil
}
