// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/sidecar"
)

func TestChildEnvironment(t *testing.T) {
	b := &session{Options: Options{RunID: "r", Asked: plan.Asked{Profile: "quick", Env: "local", Dashboard: true,
		Environ: []string{"MESSAGES=7", "PROFILE=other", "K6_WEB_DASHBOARD_HOST=::1", `VERSIONS={"relay":"9"}`, "https_proxy=http://proxy:1", "SSL_CERT_FILE=/ca.pem", "XDG_CONFIG_HOME=/home/of/mine", "BARRIER=0@/of/another"}}},
		sidecar: &sidecar.Sidecar{Client: sidecar.Client{URL: "http://127.0.0.1:5"}}}
	b.known = b.versions()
	env := b.childEnvironment(job{scenario: plan.Scenario{System: "pulsar", Name: "bulk"}, runID: "r", dir: "/results/r"}, sidecar.Instance{ID: "i", Outputs: map[string]string{"PULSAR_URL": "u"},
		SecretOutputs: map[string]string{"PULSAR_PASSWORD": "p"}})
	for _, want := range []string{"MESSAGES=7", "PROFILE=quick", "ENV=local", "RUN_ID=r", "RESULT_DIR=/results/r", "INSTANCE=i",
		"SIDECAR_URL=http://127.0.0.1:5", "PULSAR_URL=u", "PULSAR_PASSWORD=p", "K6_NO_USAGE_REPORT=true",
		"K6_WEB_DASHBOARD=true", "K6_WEB_DASHBOARD_EXPORT=/results/r/pulsar-bulk.dashboard.html"} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s in %v", want, env)
		}
	}
	for _, unwanted := range []string{"PROFILE=other", "https_proxy=http://proxy:1", "SSL_CERT_FILE=/ca.pem", "XDG_CONFIG_HOME=/home/of/mine", "BARRIER=0@/of/another"} {
		if slices.Contains(env, unwanted) {
			t.Errorf("the caller's %s is there too", unwanted)
		}
	}
	var versions map[string]string
	if err := json.Unmarshal([]byte(b.known), &versions); err != nil || versions["relay"] != "9" {
		t.Errorf("%v %v", versions, err)
	}
	if b.DashboardURL() != "http://[::1]:5665" {
		t.Error(b.DashboardURL())
	}
}

func TestRemoteHost(t *testing.T) {
	for address, want := range map[string]string{
		"http://127.0.0.1:80": "", "http://127.9.9.9": "", "http://localhost:1/x": "", "http://[::1]:2": "",
		"http://relay.localhost": "relay.localhost", "": "", "http://0.0.0.0:1": "0.0.0.0", "https://localhost.example.org": "localhost.example.org",
		"https://192.168.0.7:8443/base": "192.168.0.7", "http://[2001:db8::1]:80": "2001:db8::1",
	} {
		if got := strings.Join(environment.System{URL: address}.RemoteHosts(), " "); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

// TestLoopbackIsTheScripts uses the same hosts as the test of lib/environment.js.
func TestLoopbackIsTheScripts(t *testing.T) {
	data, err := os.ReadFile("../../../tests/fixtures/loopback.json")
	if err != nil {
		t.Fatal(err)
	}
	var hosts map[string][]string
	if err := json.Unmarshal(data, &hosts); err != nil {
		t.Fatal(err)
	}
	for _, host := range append(hosts["this machine"], hosts["another"]...) {
		remote := len(environment.System{URL: "http://" + host + ":1"}.RemoteHosts()) > 0
		if remote != slices.Contains(hosts["another"], host) {
			t.Errorf("%s: remote %v", host, remote)
		}
	}
}

func TestRecordIsAlwaysWhole(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		r := run.Run{Schema: run.Schema, ID: strings.Repeat("x", 100-i)}
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
		if got, err := run.Read(dir); err != nil || got.ID != r.ID {
			t.Errorf("%v %v", got, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}
