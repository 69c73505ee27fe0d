// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatIsMadeOfTheRegistryIsWhatItMakes(t *testing.T) {
	made, err := Made(root(""))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range made {
		if there, _ := os.ReadFile(root(name)); string(there) != text {
			t.Errorf("%s: run `make variables`", name)
		}
	}
}

func TestAllAreTold(t *testing.T) {
	help, page := Help(), tables()
	for _, v := range All {
		if !strings.Contains(help, "\n  "+v.Name+" ") || strings.Count(page, "\n| `"+v.Name+"` |")+strings.Count(page, "\n| [`"+v.Name+"`](") != 1 {
			t.Error(v.Name)
		}
	}
}

// TestAVariableOfSeveralSystemsIsToldOnce holds the row to what the groups have in common and what each has alone.
func TestAVariableOfSeveralSystemsIsToldOnce(t *testing.T) {
	page := tables()
	for _, want := range []string{
		"| 1/s, above 0, to 100,000 | dataplane: concurrency 5, handshake 100, socks-tcp 1000, socks-udp 1000; footprint: 100; panel: mixed 40,",
		"restart 100, slow 262144; udp: 160 | dataplane, pulsar, udp (flows) |",
		"| block, spin, yield | block | dataplane, footprint, link, protocols, udp, users (",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing in\n%s", want, page)
		}
	}
}

func TestALineHasWhatTheGroupReads(t *testing.T) {
	for of, lines := range map[string]map[string]string{
		"pulsar": {
			"RATE":        "(bulk 20, concurrent 400, ingest 200, restart 50, slow 20)",
			"CONNECTIONS": "(by profile) [subscribe]",
			"CLIENTS":     "(by profile and scenario) [broadcast, bulk, ",
		},
		"dataplane": {
			"RATE":              "(concurrency 5, handshake 100, socks-tcp 1000, socks-udp 1000)",
			"CONNECTIONS":       "(1) [handshake, socks-tcp, socks-udp]",
			"WAIT":              ": block, spin, yield (block)",
			"REQUEST_TIMEOUT_S": "-",
		},
		"panel":     {"REQUEST_TIMEOUT_S": "(60)", "USERS": "[subscription, users-accounting, "},
		"footprint": {"REQUEST_TIMEOUT_S": "(by testbed) [leak]"},
		"*":         {"REST_S": "(0.25)", "ONLY": "every one"},
		"make":      {"TIMES": "(by target)", "WORSE_BY": "(10)"},
	} {
		g := Group{of: of}
		told := map[string]string{}
		for _, v := range g.Variables() {
			told[v.Name] = g.describe(v)
		}
		for name, want := range lines {
			if got, is := told[name]; want == "-" && is || want != "-" && !strings.Contains(got, want) {
				t.Errorf("%s of %s: %q", name, of, got)
			}
		}
	}
}

func TestAPageWithoutItsPlaceIsTold(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "docs/reference"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, page), []byte("# Profiles\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Made(dir); err == nil || !strings.Contains(err.Error(), "docs/reference/variables.md") {
		t.Error(err)
	}
}
