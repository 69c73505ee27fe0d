// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/plan"
)

func TestTheBaselineIsStartedAsTheCandidateIs(t *testing.T) {
	for given, want := range map[string]string{
		"":                                    "BASELINE=/old CANDIDATE=/new",
		"BASELINE=monday CANDIDATE=fork.toml": "BASELINE=fork.toml:/old CANDIDATE=fork.toml:/new",
		"BASELINE=xray CANDIDATE=fork.toml":   "BASELINE=xray:/old CANDIDATE=fork.toml:/new",
		"BASELINE=xray":                       "BASELINE=xray:/old CANDIDATE=/new",
	} {
		b := bench.Options{Asked: plan.Asked{Root: "../../..", Environ: append(strings.Fields(given), "PROTOCOL=vless", "MINUTES=9")}}
		got := ofRows(Options{Protocol: "socks", Minutes: "1"}, b, [2]string{"/old", "/new"})
		slices.Sort(got.Environ)
		if text := strings.Join(got.Environ, " "); text != want+" MINUTES=1 PROTOCOL=socks" || got.Only != matrix {
			t.Errorf("%s: %q of %s", given, text, got.Only)
		}
	}
}

func TestRowsThatThereAreNotAreRefused(t *testing.T) {
	for list, says := range map[string]string{"socks": "", "vless*,socks": "", "sokcs": "PROTOCOL=sokcs: no such row; did you mean socks?; there are socks, ", "x*": "PROTOCOL=x*: no such row"} {
		f := knownRows("../../..", list)
		if (f == nil) != (says == "") || f != nil && (f.Code != exit.Usage || !strings.HasPrefix(f.Message, says)) {
			t.Errorf("%s: %+v", list, f)
		}
	}
}

func TestTwoProgramsOfTheSameBytesAreRefused(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	program := func(text string) string {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	b := bench.Options{Asked: plan.Asked{Root: root}}
	if f := samePrograms(b, [2]string{program("one"), program("one")}); f == nil || f.Code != exit.Inconclusive {
		t.Errorf("%+v", f)
	}
	if f := samePrograms(b, [2]string{program("one"), program("two")}); f != nil {
		t.Errorf("%+v", f)
	}
	b.Same = true
	if f := samePrograms(b, [2]string{program("one"), program("one")}); f != nil {
		t.Errorf("%+v", f)
	}
}
