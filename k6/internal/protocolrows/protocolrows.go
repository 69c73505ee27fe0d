// SPDX-License-Identifier: AGPL-3.0-only

// Package protocolrows reads the protocol matrix: a file for each row, and one for each engine.
package protocolrows

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/schema"
)

// Matrix is what lies in testbeds/protocols. A row's and an engine's fields are as in their files:
// schemas/protocol-row.schema.json, schemas/protocol-engine.schema.json.
type Matrix struct {
	Rows    []Row                      `json:"rows"`
	Engines map[string]json.RawMessage `json:"engines"`
}

// Row is one of them; its name is its file's.
type Row struct {
	Name string          `json:"name"`
	Row  json.RawMessage `json:"row"`
}

// Read returns the matrix of a folder, its rows in the order of tables. The first file that is malformed is an error that
// names it, the field and the mend.
func Read(folder string) (Matrix, error) {
	m := Matrix{Engines: map[string]json.RawMessage{}}
	rows, err := readAll(folder, "rows", schema.ProtocolRow)
	if err != nil {
		return m, err
	}
	engines, err := readAll(folder, "engines", schema.ProtocolEngine)
	if err != nil {
		return m, err
	}
	for _, engine := range engines {
		m.Engines[engine.Name] = engine.Row
	}
	m.Rows = rows
	places := map[string]int{}
	for _, row := range rows {
		var own struct {
			Order *int              `json:"order"`
			Known map[string]string `json:"known"`
		}
		if err := json.Unmarshal(row.Row, &own); err != nil {
			return m, err
		}
		places[row.Name] = math.MaxInt
		if own.Order != nil {
			places[row.Name] = *own.Order
		}
		for engine, fault := range own.Known {
			if !m.has(engine, fault) {
				return m, fmt.Errorf("rows/%s.json: known.%s: engines/%s.json has no fault %s", row.Name, engine, engine, fault)
			}
		}
	}
	slices.SortStableFunc(m.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(places[a.Name], places[b.Name]), strings.Compare(a.Name, b.Name))
	})
	return m, nil
}

func (m Matrix) has(engine, fault string) bool {
	var own struct {
		Faults map[string]string `json:"faults"`
	}
	if json.Unmarshal(m.Engines[engine], &own) != nil {
		return false
	}
	_, ok := own.Faults[fault]
	return ok
}

func readAll(folder, kind string, checked schema.Kind) (all []Row, err error) {
	names, err := fs.Glob(os.DirFS(folder), kind+"/*.json")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("no " + kind + "/*.json in " + folder)
	}
	for _, name := range names {
		path := filepath.Join(folder, name)
		doc, err := document.Read(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if problems := schema.Check(checked, doc); len(problems) > 0 {
			return nil, fmt.Errorf("%s: %s", name, problems[0])
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, Row{strings.TrimSuffix(filepath.Base(name), ".json"), data})
	}
	return all, nil
}
