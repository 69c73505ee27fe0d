// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestScenariosInOrder(t *testing.T) {
	all, err := Scenarios("../bench/testdata/root")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range all {
		names = append(names, s.String())
	}
	want := "panel/create pulsar/slow pulsar/passes pulsar/crowded pulsar/doubtful pulsar/fails pulsar/forgets pulsar/garbles pulsar/leaks pulsar/refused"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s", got)
	}
	chosen, err := Select(all, " pulsar/refused , panel,pulsar/refused,")
	if err != nil || len(chosen) != 2 || chosen[0].String() != "panel/create" {
		t.Errorf("%v %v", chosen, err)
	}
}

// rootWith makes a checkout with the scenarios panel/create and panel/list, and a system.toml for them.
func rootWith(t *testing.T, systemFile string) string {
	t.Helper()
	root := t.TempDir()
	folder := filepath.Join(root, "scripts", "panel")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"create.js": "", "list.js": "", "system.toml": systemFile} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFurtherScenarios(t *testing.T) {
	root := rootWith(t, `scenarios = [{ name = "create" }, { name = "list", further = true }]`)
	const line = "smoke leaves out 1 of the scenarios (ONLY=all runs them, too): panel/list"
	for _, c := range []struct{ profile, only, want, leftOut string }{
		{"smoke", "", "panel/create", line},
		{"smoke", " ", "panel/create", line},
		{"smoke", "all", "panel/create panel/list", ""},
		{"smoke", "panel", "panel/create panel/list", ""},
		{"smoke", "panel-list", "panel/list", ""},
		{"quick", "", "panel/create panel/list", ""},
	} {
		chosen, leftOut, err := Asked{Root: root, Profile: c.profile, Only: c.only}.choose()
		if got := strings.Join(namesOf(chosen), " "); err != nil || got != c.want || leftOut != c.leftOut {
			t.Errorf("%s %q: %q %q %v", c.profile, c.only, got, leftOut, err)
		}
	}
}

func TestWrongScenariosOfASystemAreRefused(t *testing.T) {
	for entries, says := range map[string]string{
		`{ name = "lists" }`:                   "scenarios: there is no lists, or it is named twice; did you mean list?",
		`{ name = "list" }, { name = "list" }`: "scenarios: there is no list, or it is named twice",
		`{ name = "list", testbed = "mine" }`:  `scenarios[0].testbed: "mine" is not one of any, own`,
		`{ name = "list", testbeds = "own" }`:  "scenarios[0].testbeds: unknown key; known here: chooses, further, name, not_in_smoke, testbed; did you mean testbed?",
		`{ name = "list", chooses = 7 }`:       "scenarios[0].chooses: is a number, must be an array",
	} {
		_, err := Scenarios(rootWith(t, "scenarios = ["+entries+"]"))
		if want := "scripts/panel/system.toml: " + says; err == nil || err.Error() != want {
			t.Errorf("%s: %v", entries, err)
		}
	}
}

func TestOurScriptsSayWhatTheyNeed(t *testing.T) {
	all, err := Scenarios("../../..")
	if err != nil {
		t.Fatal(err)
	}
	alone := map[string]string{"dataplane/queue-sweep": "any", "dataplane/tproxy": "own", "pulsar/restart": "any", "users/live": "own", "pulsar/ingest": ""}
	for _, s := range all {
		rows := s.System == "protocols" || s.System == "link"
		if chosen := strings.Join(s.its.Chooses, " "); rows && (chosen != "protocol engine" || s.its.Testbed != "any") || !rows && chosen != "" {
			t.Errorf("%s: %+v", s, s.its)
		}
		if want, known := alone[s.String()]; known && s.its.Testbed != want {
			t.Errorf("%s: %s", s, s.its.Testbed)
		}
	}
}
