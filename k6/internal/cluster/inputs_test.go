// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"strings"
	"testing"

	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/plan"
)

func TestWhereIsChecked(t *testing.T) {
	good := Where{Image: "registry.example.net/windtunnel:0.1.0", CPU: "1", Memory: "1Gi"}
	if f := good.check(); f != nil {
		t.Fatal(f.Message)
	}
	for says, spoil := range map[string]func(*Where){
		"IMAGE is not set":      func(w *Where) { w.Image = "" },
		"IMAGE=a b":             func(w *Where) { w.Image = "a b" },
		"RUNNER_CPU=0.5":        func(w *Where) { w.CPU = "0.5" },
		"RUNNER_MEMORY=1G":      func(w *Where) { w.Memory = "1G" },
		"NAMESPACE=Mine":        func(w *Where) { w.Namespace = "Mine" },
		"PULL_SECRET=my secret": func(w *Where) { w.PullSecret = "my secret" },
	} {
		bad := good
		spoil(&bad)
		if f := bad.check(); f == nil || !strings.HasPrefix(f.Message, says) || f.Code != 2 {
			t.Errorf("%q: %v", says, f)
		}
	}
}

func systemAt(url string) environment.System { return environment.System{URL: url} }

func planned(name string, system environment.System) plan.Plan {
	return plan.Plan{
		Env:       environment.Environment{Name: "mine", Systems: map[string]environment.System{name: system}},
		Scenarios: []plan.Scenario{{System: name, Name: "concurrent", Probed: strings.HasPrefix(system.URL, "socks5:")}},
	}
}

func TestWhatPodsCannotReachIsRefused(t *testing.T) {
	if f := reachable(planned("pulsar", environment.System{URL: "https://relay.example.net"})); f != nil {
		t.Error(f.Message)
	}
	for says, p := range map[string]plan.Plan{
		"has a testbed":            planned("pulsar", environment.System{Testbed: &environment.TestbedRef{Name: "pulsar-relay"}}),
		"is on this machine":       planned("pulsar", environment.System{URL: "http://127.0.0.1:8080"}),
		"its probes are in the si": planned("dataplane", environment.System{URL: "socks5://proxy.example.net:1080"}),
	} {
		if f := reachable(p); f == nil || !strings.Contains(f.Message, says) || f.Code != 2 {
			t.Errorf("%q: %v", says, f)
		}
	}
}

func TestVariablesReachThePodsThatReadThem(t *testing.T) {
	p := planned("pulsar", environment.System{URL: "https://relay.example.net", Auth: environment.Auth{Mode: "login", PasswordEnv: "RELAY_PASSWORD"}})
	asked := plan.Asked{Profile: "quick", Environ: []string{"MESSAGES=50", "RELAY_PASSWORD=hunter2hunter2", "HOME=/root", "USERS=3",
		"IMAGE=x", "RUNS=3", "CLIENTS=", "CONFIRM_REMOTE=relay.example.net", "INFLUX_TOKEN=abcdefgh"}}
	told := map[string]string{}
	for _, v := range variablesOf(asked, p, "mine-1", p.Scenarios[0], false) {
		told[v.Name] = v.Value
	}
	want := map[string]string{"CONFIRM_REMOTE": "relay.example.net", "ENV": "/environment/mine.json", "K6_NO_USAGE_REPORT": "true",
		"MESSAGES": "50", "PROFILE": "quick", "RUN_ID": "mine-1"}
	for name, value := range want {
		if told[name] != value {
			t.Errorf("%s=%q, want %q", name, told[name], value)
		}
		delete(told, name)
	}
	if len(told) > 0 {
		t.Errorf("told besides: %v", told)
	}
	secrets := secretsOf(asked, p, false)
	if len(secrets) != 1 || secrets["RELAY_PASSWORD"] != "hunter2hunter2" {
		t.Error(secrets)
	}
}
