// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/stream"
)

func getenv(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestPodsStreamWhereTheyFindTheServer(t *testing.T) {
	for _, c := range []struct {
		set    map[string]string
		wanted bool
		says   string
		code   int
	}{
		{set: nil},
		{set: map[string]string{"INFLUX": "http://influx.example.net:8086"}, wanted: true},
		{set: map[string]string{"INFLUX_PASSWORD": "hunter2hunter2"}, says: "not streamed: INFLUX is not set"},
		{set: map[string]string{"INFLUX": "http://127.0.0.1:8086"}, says: "INFLUX=http://127.0.0.1:8086 is on this machine", code: 2},
		{set: map[string]string{"INFLUX": "http://[::1]:8086/"}, says: "INFLUX=http://[::1]:8086 is on this machine", code: 2},
		{set: map[string]string{"INFLUX": "http://localhost:8086"}, says: "INFLUX=http://localhost:8086 is on this machine", code: 2},
		{set: map[string]string{"INFLUX": "influx.example.net"}, says: "INFLUX is no base URL", code: 2},
	} {
		wanted, said, f := streamed(getenv(c.set))
		code := 0
		if f != nil {
			said, code = f.Message, f.Code
		}
		if wanted != c.wanted || !strings.HasPrefix(said, c.says) || (c.says == "") != (said == "") || code != c.code {
			t.Errorf("%v: %v %q %d", c.set, wanted, said, code)
		}
	}
}

func TestLoginsOfStreamingAreInTheSecretAlone(t *testing.T) {
	asked := plan.Asked{Environ: []string{"INFLUX=http://influx.example.net:8086", "INFLUX_USERNAME=me", "INFLUX_TOKEN=abcdefgh",
		"INFLUX_PASSWORD=hunter2hunter2"}}
	p := planned("pulsar", systemAt("https://relay.example.net"))
	m := example()
	m.Streamed = true
	m.Variables = variablesOf(asked, p, "mine-1", p.Scenarios[0], true)
	m.Secrets = secretsOf(asked, p, true)
	if m.Secrets["INFLUX_TOKEN"] != "abcdefgh" || m.Secrets["INFLUX_PASSWORD"] != "hunter2hunter2" || len(m.Secrets) != 2 {
		t.Error(m.Secrets)
	}
	told := map[string]Variable{}
	for _, v := range m.RunnerVariables() {
		told[v.Name] = v
	}
	for name, want := range map[string]string{"K6_OUT": "windtunnel", "K6_LOG_FORMAT": "json", "INFLUX": "http://influx.example.net:8086", "INFLUX_USERNAME": "me"} {
		if told[name].Value != want {
			t.Errorf("%s=%q, want %q", name, told[name].Value, want)
		}
	}
	for _, name := range []string{"INFLUX_TOKEN", "INFLUX_PASSWORD"} {
		if v := told[name]; v.Value != "" || v.ValueFrom == nil || v.ValueFrom.SecretKeyRef.Key != name {
			t.Errorf("%s: %+v", name, v)
		}
	}
	for _, v := range m.InitializerVariables() {
		if v.ValueFrom != nil || v.Name == "K6_OUT" {
			t.Errorf("the initializer has %s", v.Name)
		}
	}
	printed, err := m.Text(root)
	if err != nil || strings.Contains(printed, "hunter2") || strings.Contains(printed, "abcdefgh") {
		t.Errorf("a secret is printed, or %v", err)
	}
	for _, v := range variablesOf(asked, p, "mine-1", p.Scenarios[0], false) {
		if strings.HasPrefix(v.Name, "INFLUX") {
			t.Errorf("%s is told though nothing is streamed", v.Name)
		}
	}
}

func TestWhatRunnersMissIsAddedUp(t *testing.T) {
	var told []string
	ledger := stream.Listen(func(line string) { told = append(told, line) }, func(text string) string { return text })
	of := stream.Of{TestID: "mine-1", System: "pulsar", Scenario: "concurrent"}
	heard(ledger, of, []byte(`[pod/w-1-abc/k6] {"level":"warning","msg":"x","output":"windtunnel","trouble":"InfluxDB is away"}
[pod/w-1-abc/k6] {"level":"info","msg":"Run [windtunnel] {\"output\":\"windtunnel\"}"}
[pod/w-2-abc/k6] {"level":"warning","msg":"x","output":"windtunnel","trouble":"InfluxDB is away"}
[pod/w-1-abc/k6] {"level":"warning","msg":"x","output":"windtunnel","missing":"100-101"}
no prefix
[pod/w-2-abc/k6] {"level":"warning","msg":"x","output":"windtunnel","missing":"101-103"}`))
	if !slices.Equal(told, []string{"InfluxDB is away"}) {
		t.Error(told)
	}
	if lines := ledger.Close(of); len(lines) != 1 || !strings.HasPrefix(lines[0], "InfluxDB misses 4 seconds, from 00:01:40 to 00:01:43 UTC") {
		t.Error(lines)
	}
}

func TestEachCoordinatorKnowsWhatWasBeforeIt(t *testing.T) {
	all := []run.Scenario{{System: "pulsar", Scenario: "concurrent", Outcome: run.Fail}, {System: "pulsar", Scenario: "delivery", Outcome: run.Pass},
		{System: "pulsar", Scenario: "ingest", Outcome: run.Planned}}
	for i, want := range []string{"pulsar/concurrent --wait 10m0s --more", "pulsar/delivery --wait 10m0s --more --after 99", "pulsar/ingest --wait 10m0s --after 99"} {
		if got := strings.Join(command(2, all, i), " "); !strings.HasSuffix(got, "--runners 2 --only "+want) {
			t.Error(got)
		}
	}
}
