// SPDX-License-Identifier: AGPL-3.0-only

package profiles

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/variables"
)

func TestEveryProfileLasts(t *testing.T) {
	if len(All) < 3 || All[0].Name != variables.Default("PROFILE") {
		t.Errorf("%+v", All)
	}
	for _, p := range All {
		if !p.Sized && (p.Fixed || len(p.Steps) == 0 || p.Rounds == nil) {
			t.Errorf("%s says neither how much it is nor how long: %+v", p.Name, p)
		}
		if p.CompareMin <= 0 {
			t.Errorf("%s: nothing is compared", p.Name)
		}
		if p.QuietS <= 0 || p.QuietS > 2 {
			t.Errorf("%s: a quiet period of %g s", p.Name, p.QuietS)
		}
		if p.Fixed != (len(p.Steps) == 0) {
			t.Errorf("%s: a number that time bounds", p.Name)
		}
		if p.LimitSteps > 0 && len(p.Rounds.Factors) != p.LimitSteps {
			t.Errorf("%s: %d steps, and %d rounds", p.Name, p.LimitSteps, len(p.Rounds.Factors))
		}
	}
	if MostMinutes("quick") != 10 || MostMinutes("soak") != 120 || MostMinutes("of one's own") != 120 {
		t.Error(MinutesText())
	}
	if !LooksForLimit("breakpoint") || LooksForLimit("stress") || LooksForLimit("") {
		t.Error("which profile looks for the limit")
	}
	if text := MinutesText(); text != "3 of smoke, 10 of quick, 60 of full, else 120" {
		t.Error(text)
	}
}

// TestOthersKnowTheSameProfiles compares the list with the programs that cannot read it.
func TestOthersKnowTheSameProfiles(t *testing.T) {
	same := func(about string, got, want []string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, and profiles.json has %q", about, got, want)
		}
	}
	var all []string
	for _, p := range All {
		all = append(all, p.Name)
	}
	same("the variable PROFILE", variables.Find("PROFILE").Choices, all)
	same("the variable MODE", variables.Find("MODE").Choices, Sized())
	rust, err := os.ReadFile("../../../sidecar/src/primitives/plan.rs")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)pub enum Mode \{(.*?)\}`).FindSubmatch(rust)
	if found == nil {
		t.Fatal("no modes of the primitives")
	}
	same("the modes of the primitives", strings.FieldsFunc(strings.ToLower(string(found[1])), func(r rune) bool { return r < 'a' || r > 'z' }), Sized())
}
