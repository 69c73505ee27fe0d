// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/sidecar"
)

func TestTestbedOfAnotherSystemIsRefused(t *testing.T) {
	tr := newTrial(t, "here", "dataplane/tell")
	withDataplane(t, tr, `{"testbed":{"name":"proxy","variables":{"queue":5}},"auth":{"mode":"none"}}`)
	here := tr.text(t, "environments/here.json")
	write(t, tr, "environments/here.json", strings.Replace(here, `"systems":{`,
		`"systems":{"pulsar":{"testbed":{"name":"pulsar-relay"},"auth":{"mode":"none"},"websocket":{"auth":"none"}},`, 1))
	tr.Testbed = "pulsar-relay"
	if code := Run(tr.Options); code != exit.Usage {
		t.Errorf("code %d\n%s", code, tr.out)
	}
	if want := "testbeds/pulsar-relay.toml starts the system pulsar, and the scenarios chosen are of dataplane: give a testbed that starts it, or none\n"; tr.err.String() != want {
		t.Errorf("%q", tr.err)
	}
	if _, err := os.Stat(tr.events); err == nil {
		t.Errorf("something started:\n%s", tr.text(t, "events"))
	}
}

func TestMisspeltVariableIsRefused(t *testing.T) {
	tr := newTrial(t, "here", "dataplane/tell")
	withDataplane(t, tr, `{"testbed":{"name":"proxy","variables":{"queue":5}},"auth":{"mode":"none"}}`)
	tr.Environ = append(tr.Environ, "MAKEFLAGS= -- ROUND_TRIP=7")
	if code := Run(tr.Options); code != exit.Usage {
		t.Errorf("code %d\n%s", code, tr.out)
	}
	if want := "ROUND_TRIP: no such variable; did you mean ROUND_TRIPS? docs/reference/variables.md lists them\n"; tr.err.String() != want {
		t.Errorf("%q", tr.err)
	}
	if _, err := os.Stat(tr.events); err == nil {
		t.Errorf("something started:\n%s", tr.text(t, "events"))
	}
}

func TestVariableThatNothingReadsIsNamed(t *testing.T) {
	tr := newTrial(t, "here", "dataplane/socks-udp")
	withDataplane(t, tr, `{"testbed":{"name":"proxy","variables":{"queue":5}},"auth":{"mode":"none"}}`)
	write(t, tr, "scripts/dataplane/socks-udp.js", tr.text(t, "scripts/dataplane/tell.js"))
	tr.Environ = append(tr.Environ, "BATCHES=7", "CLIENT=7")
	Run(tr.Options)
	for _, want := range []string{"not used by what runs: BATCHES (of pulsar/bulk)\n", "CLIENT is set, and nothing reads it; was CLIENTS meant?\n"} {
		if !strings.Contains(tr.out.String()+tr.err.String(), want) {
			t.Errorf("%q %q", tr.out, tr.err)
		}
	}
}

func TestDashboardWhosePortIsTakenIsRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	address := listener.Addr().String()
	for port, c := range map[string]struct {
		code int
		says string
	}{
		strings.TrimPrefix(address, "127.0.0.1:"): {exit.Setup, "DASHBOARD: nothing can listen at " + address +
			" (address already in use); set K6_WEB_DASHBOARD_PORT to another port, or stop the program that uses it\n"},
		"70000": {exit.Usage, "K6_WEB_DASHBOARD_PORT=70000: give a port, 1 to 65535\n"},
		"-1":    {exit.Usage, "K6_WEB_DASHBOARD_PORT=-1: give a port, 1 to 65535\n"},
	} {
		tr := newTrial(t, "local", "pulsar/passes", "K6_WEB_DASHBOARD_PORT="+port)
		tr.Dashboard = true
		if code := Run(tr.Options); code != c.code || tr.err.String() != c.says {
			t.Errorf("port %s: code %d, %q", port, code, tr.err)
		}
	}
}

func TestForeignVariablesOfK6DoNotReachIt(t *testing.T) {
	tr := newTrial(t, "local", "pulsar/passes", "K6_ITERATIONS=0", "K6_NO_SUMMARY=true", "K6_EMPTY=", "K6_OUT=csv=/dev/null", "K6_CSV_SAVE_INTERVAL=2s")
	if code := Run(tr.Options); code != exit.Pass {
		t.Fatalf("code %d\n%s%s", code, tr.out, tr.err)
	}
	if want := "not passed on to k6, since a scenario says itself how it runs: K6_ITERATIONS, K6_NO_SUMMARY; see docs/reference/variables.md\n"; tr.err.String() != want {
		t.Errorf("%q", tr.err)
	}
	b := &session{Options: tr.Options}
	env := b.childEnvironment(job{scenario: plan.Scenario{System: "pulsar", Name: "passes"}}, sidecar.Instance{})
	for _, name := range []string{"K6_ITERATIONS=", "K6_NO_SUMMARY=", "K6_EMPTY="} {
		if slices.ContainsFunc(env, func(pair string) bool { return strings.HasPrefix(pair, name) }) {
			t.Errorf("%s reaches k6", name)
		}
	}
	for _, pair := range []string{"K6_OUT=csv=/dev/null", "K6_CSV_SAVE_INTERVAL=2s"} {
		if !slices.Contains(env, pair) {
			t.Errorf("%s does not reach k6", pair)
		}
	}
}

func TestScenariosAreNamedAsTargetsOfMakeToo(t *testing.T) {
	tr := newTrial(t, "loop", "pulsar-passes")
	if code := Run(tr.Options); code != exit.Pass {
		t.Fatalf("code %d\n%s%s", code, tr.out, tr.err)
	}
	if got := tr.outcomes(t); got != "passes pass" {
		t.Error(got)
	}
}

func TestValuesOutOfTheirBoundsAreRefusedBeforeAnythingStarts(t *testing.T) {
	tr := newTrial(t, "local", "pulsar/passes", "REQUEST_TIMEOUT_S=0", "REST_S=11")
	tr.Environ = append(tr.Environ, "PROFILE=no matter: the flag is given", "MESSAGES=of other scenarios")
	if code := Run(tr.Options); code != exit.Usage {
		t.Errorf("code %d", code)
	}
	if want := "REQUEST_TIMEOUT_S=0: a whole number from 1 to 60 s is wanted\nREST_S=11: at most 10 s\n"; tr.err.String() != want {
		t.Error(tr.err)
	}
	if _, err := os.Stat(tr.events); err == nil {
		t.Errorf("something started:\n%s", tr.text(t, "events"))
	}
}
