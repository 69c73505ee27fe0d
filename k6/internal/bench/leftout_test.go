// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"path/filepath"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/report"
)

// withOwn gives a trial with a data plane a second scenario, which needs its own testbed.
func withOwn(t *testing.T, tr *trial) {
	t.Helper()
	withDataplane(t, tr, `{"testbed":{"name":"proxy"},"testbeds":{"own":{"name":"own","variables":{"queue":7}}},"auth":{"mode":"none"}}`)
	script := strings.ReplaceAll(tr.text(t, "scripts/dataplane/tell.js"), "'tell'", "'own'")
	write(t, tr, "scripts/dataplane/own.js", script)
	write(t, tr, "scripts/dataplane/system.toml", "probed = true\nscenarios = [{ name = 'own', testbed = 'own' }]")
	bed := strings.ReplaceAll(tr.text(t, "testbeds/proxy.toml"), `name = "proxy"`+"\nsystem", `name = "own"`+"\nscenarios = [\"own\"]\nsystem")
	write(t, tr, "testbeds/own.toml", bed)
}

func TestScenariosRunOnTestbedsThatAreForThem(t *testing.T) {
	for name, c := range map[string]struct {
		only, testbed  string
		outcomes, says string
		started        []string
	}{
		"the environment's": {"dataplane", "", "own pass, tell pass", "", []string{"start own ", `"queue":7`, "start proxy "}},
		"the caller's": {"dataplane", "own:queue=8", "own pass", "testbeds/own.toml is not for dataplane/tell: left out\n",
			[]string{"start own ", `"queue":8`}},
		"that of all others": {"dataplane", "other", "tell pass", "testbeds/other.toml is not for dataplane/own: left out\n", []string{"start other "}},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, "here", c.only)
			withOwn(t, tr)
			tr.Testbed = c.testbed
			if code := Run(tr.Options); code != exit.Pass {
				t.Fatalf("code %d\n%s%s", code, tr.out, tr.err)
			}
			if got := tr.outcomes(t); got != c.outcomes {
				t.Errorf("%s, want %s", got, c.outcomes)
			}
			if tr.err.String() != c.says {
				t.Errorf("%q", tr.err)
			}
			events := tr.text(t, "events")
			want(t, events, c.started...)
			if n := strings.Count(events, "start "); n != len(strings.Split(c.outcomes, ", ")) {
				t.Errorf("%d starts: %s", n, events)
			}
		})
	}
}

func TestNothingIsLeftForATestbed(t *testing.T) {
	tr := newTrial(t, "here", "dataplane/own")
	withOwn(t, tr)
	tr.Testbed = "proxy"
	if code := Run(tr.Options); code != exit.Usage {
		t.Errorf("code %d", code)
	}
	want(t, tr.err.String(), "testbeds/proxy.toml is not for dataplane/own: left out", "nothing is left to run")
}

func TestWhatTheMachineCannotRunIsLeftOut(t *testing.T) {
	const why = "testbed own makes network namespaces, and this user may not; run it as root"
	for name, c := range map[string]struct {
		only     string
		may      bool
		code     int
		outcomes string
		verdict  string
	}{
		"beside another":           {"dataplane", false, exit.Pass, "own left out, tell pass", "verdict: pass"},
		"alone":                    {"dataplane/own", false, exit.Setup, "own left out", "verdict: left out"},
		"alone, where that is all": {"dataplane/own", true, exit.Pass, "own left out", "verdict: left out"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, "here", c.only, "FAKE_SIDECAR=unable")
			withOwn(t, tr)
			tr.MayLeaveOut = c.may
			if code := Run(tr.Options); code != c.code {
				t.Fatalf("code %d\n%s%s", code, tr.out, tr.err)
			}
			if got := tr.outcomes(t); got != c.outcomes {
				t.Errorf("%s, want %s", got, c.outcomes)
			}
			want(t, tr.out.String(), "dataplane/own: left out: "+why, c.verdict)
			want(t, tr.text(t, "results/test/report.md"), why)
			if set, err := report.Load([]string{filepath.Join(tr.Root, "results/test")}); err != nil || set.ExitCode() != c.code {
				t.Errorf("%v: read again, its code is %d", err, set.ExitCode())
			}
			want(t, tr.text(t, "results/test/report.xml"), `<skipped message="left out: `+why)
		})
	}
}

func TestWhereAllMayBeLeftOutAFailureIsOneStill(t *testing.T) {
	tr := newTrial(t, "here", "dataplane/own", "FAKE_SIDECAR=refuse")
	withOwn(t, tr)
	tr.MayLeaveOut = true
	if code := Run(tr.Options); code != exit.Setup {
		t.Errorf("code %d\n%s%s", code, tr.out, tr.err)
	}
}
