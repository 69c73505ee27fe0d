// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/plan"
)

// asking gives a trial a sidecar that returns its arguments.
func asking(t *testing.T, tr *trial, script string) {
	t.Helper()
	tr.Sidecar = filepath.Join(tr.Root, "asked")
	if err := os.WriteFile(tr.Sidecar, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestNeedsAsksForTheTestbedsOfThePlan(t *testing.T) {
	const tell = `echo "$*" | sed "s|.*--root [^ ]* ||; s/ /_/g"`
	for name, c := range map[string]struct {
		only                string
		scenarios, testbeds []string
		targets             string
	}{
		"all, each once":               {"dataplane/own,dataplane/tell,pulsar", nil, nil, "--_proxy --var_queue=7_--_own"},
		"what ONLY names":              {"dataplane/tell", nil, nil, "--_proxy"},
		"what the environment has not": {"pulsar", nil, nil, ""},
		"the caller's testbeds":        {"dataplane/own,dataplane/tell", nil, []string{"own:queue=8", "other"}, "--_other --var_queue=8_--_own"},
		"of a comparison":              {"", []string{"dataplane-tell"}, []string{"proxy", "other"}, "--_other --_proxy"},
		"chosen by the scenario":       {"dataplane/any", nil, nil, "--any_queue_--any_mode_--_own"},
		"values that are not text":     {"dataplane/own", nil, []string{"own:queue=0"}, "--var_queue=0_--_own"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, "here", c.only)
			withOwn(t, tr)
			write(t, tr, "scripts/dataplane/any.js", "/** A question. */")
			write(t, tr, "scripts/dataplane/system.toml", "probed = true\nscenarios = [{ name = 'own', testbed = 'own' }, { name = 'any', testbed = 'any', chooses = ['queue', 'mode'] }]")
			environment := strings.ReplaceAll(tr.text(t, "environments/here.json"), `"own":{`, `"any":{"name":"own","variables":{"queue":9}},"own":{`)
			write(t, tr, "environments/here.json", environment)
			write(t, tr, "testbeds/own.toml", strings.ReplaceAll(tr.text(t, "testbeds/own.toml"), `["own"]`, `["own", "any"]`))
			asking(t, tr, tell)
			targets, wrong := plan.Needs(tr.Asked, c.scenarios, c.testbeds)
			if wrong != nil {
				t.Fatal(wrong)
			}
			if got := strings.Join(targets, " "); got != c.targets {
				t.Errorf("got %s, want %s", got, c.targets)
			}
		})
	}
}

func TestNeedsSaysWhyItCannotTell(t *testing.T) {
	for name, c := range map[string]struct{ only, script, says string }{
		"a refusal":           {"pulsar", "echo 'sidecar: no variable x; it has y' >&2; exit 2", "no variable x; it has y"},
		"a sidecar that ends": {"pulsar", "exit 9", "bin/sidecar cannot list the needed programs: exit status 9; run `make bin/sidecar`"},
		"an unknown scenario": {"pulsar/no", "", "unknown scenario pulsar/no"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, "local", c.only)
			asking(t, tr, c.script)
			_, wrong := plan.Needs(tr.Asked, nil, nil)
			if wrong == nil || wrong.Code != exit.Usage || !strings.HasPrefix(wrong.Message, c.says) || strings.Contains(wrong.Message, "\n") {
				t.Errorf("got %+v", wrong)
			}
		})
	}
}
