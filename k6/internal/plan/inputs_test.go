// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"strings"
	"testing"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exit"
)

var rows = Scenario{System: "protocols", Name: "matrix", its: check.OfScenario{Chooses: []string{"protocol", "engine"}}}

func TestProgramsThatCannotRunAreRefused(t *testing.T) {
	for pair, says := range map[string]string{
		"CANDIDATE=/nope":       "CANDIDATE=/nope: no such file or directory; give the absolute path of a program",
		"BASELINE=/nope":        "BASELINE=/nope: no such file or directory; give the absolute path of a program",
		"CANDIDATE_ENGINE=xray": "CANDIDATE_ENGINE is gone: give CANDIDATE=FILE.toml, a file with the key engine (docs/reference/protocols.md#naming-a-candidate)",
		"CANDIDATE=xray":        "",
		"BASELINE=xray":         "",
		"CANDIDATE=":            "",
	} {
		o := Asked{Root: "../../..", Environ: []string{pair}}
		got := ""
		if _, f := o.sidesOf([]Scenario{rows}); f != nil {
			got = f.Message
			if f.Code != exit.Usage {
				t.Errorf("%s: code %d", pair, f.Code)
			}
		}
		if got != says {
			t.Errorf("%s: %q", pair, got)
		}
		// A program of BASELINE that nothing uses would look like a kept baseline that nothing judges by.
		isProgram := strings.HasPrefix(pair, "BASELINE=") && pair != "BASELINE=monday"
		if _, f := o.sidesOf([]Scenario{{System: "panel"}}); (f != nil) != isProgram {
			t.Errorf("%s: refused although nothing uses it: %v", pair, f)
		}
	}
}

func TestWhatNamesAnEngineNeedsItAndIsNotBrief(t *testing.T) {
	for pair, want := range map[string]string{"": "sing-box", "BASELINE=xray": "xray", "CANDIDATE=mihomo": "sing-box mihomo", "PROTOCOL=tuic": "sing-box"} {
		a := Asked{Root: "../../..", Profile: "smoke", Environ: []string{pair}}
		if a.isBrief() != (pair == "") {
			t.Errorf("%s is brief: %v", pair, a.isBrief())
		}
		found, f := a.sidesOf([]Scenario{rows})
		if f != nil {
			t.Fatal(f)
		}
		var asked []string
		for _, arguments := range a.enginesNeeds(rows, environment.TestbedRef{Name: "protocols", Variables: map[string]any{}}, found.Engines) {
			asked = append(asked, strings.TrimSuffix(strings.TrimPrefix(strings.Join(arguments[4:], " "), "--var engine="), " --any protocol -- protocols"))
		}
		if got := strings.Join(asked, " "); got != want {
			t.Errorf("%s: %q", pair, got)
		}
	}
}
