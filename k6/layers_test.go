// SPDX-License-Identifier: AGPL-3.0-only

package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers are the packages of internal/, from the lowest: a package imports only packages of the same layer or of a lower one. Data
// goes from the plan through the record and the judge to the report. Runs call all of them, comparisons call runs.
var layers = []struct{ name, packages string }{
	{"base", "ambient closest cpus difference difference/power document exit format influx jsvalue kinds " +
		"listing machine markdown neighbour operations profiles protocolrows result root run schema seq sides startup " +
		"testbed testsupport/busy variables"},
	{"ask", "builds check connect contents doctor environment plan target"},
	{"record", "farend record redact sidecar stream"},
	{"judge", "judge testsupport/madeup"},
	{"tell", "comment junit report terminal"},
	{"run", "barrier bench bundle children cleanup cluster coordinator coordinator/alone primitives"},
	{"compare", "baseline compare trend"},
	{"front", "command door"},
}

const inside = "windtunnel/k6/internal/"

func layerOf(name string) int {
	for i, layer := range layers {
		if slices.Contains(strings.Fields(layer.packages), name) {
			return i
		}
	}
	return -1
}

// importsOf are the imports from internal/ of each package there, without tests.
func importsOf(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir("internal", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "internal/")
		found[name] = append(found[name], "")
		for _, spec := range file.Imports {
			if imported, _ := strconv.Unquote(spec.Path.Value); strings.HasPrefix(imported, inside) {
				found[name] = append(found[name], strings.TrimPrefix(imported, inside))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestNoPackageImportsALaterLayer(t *testing.T) {
	found := importsOf(t)
	if len(found) < 50 {
		t.Fatalf("only %d packages were found", len(found))
	}
	for name, imports := range found {
		own := layerOf(name)
		if own < 0 {
			t.Errorf("internal/%s has no layer", name)
		}
		for _, imported := range imports {
			if of := layerOf(imported); of > own && own >= 0 {
				t.Errorf("internal/%s (%s) imports internal/%s (%s)", name, layers[own].name, imported, layers[of].name)
			}
		}
	}
	for _, layer := range layers {
		for name := range strings.FieldsSeq(layer.packages) {
			if _, there := found[name]; !there {
				t.Errorf("the layer %s has internal/%s, which is no package", layer.name, name)
			}
		}
	}
}
