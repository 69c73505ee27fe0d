// SPDX-License-Identifier: AGPL-3.0-only

package machine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

func ofHost(change func(*result.Result)) Class {
	cubic := "cubic"
	r := result.Result{Run: result.Run{Versions: map[string]string{"windtunnel": "0.1.0", "k6": "1.8.1", "proxy": "1"},
		Host: &result.Host{OS: "Debian 12", Kernel: "6.1.0-9", CPUModel: "EPYC", CPUs: new(2), MemoryBytes: new(int64(1 << 30)),
			Settings: &result.Settings{NetworkSettings: result.NetworkSettings{CongestionControl: &cubic}}},
		Placement: &result.Placement{Name: "split", ProbeCPUs: "1", EchoCPUs: "1", SystemCPUs: "0", Wait: "block"}}}
	change(&r)
	return Of(r)
}

func TestClass(t *testing.T) {
	bbr := "bbr"
	own := ofHost(func(*result.Result) {})
	for name, c := range map[string]struct {
		change func(*result.Result)
		named  string // "" if the class is the same
	}{
		"a patch of the kernel": {func(r *result.Result) { r.Run.Host.Kernel = "6.12.1" }, ""},
		"memory":                {func(r *result.Result) { r.Run.Host.MemoryBytes = new(2 * *r.Run.Host.MemoryBytes) }, ""},
		"system under test":     {func(r *result.Result) { r.Run.Versions["proxy"] = "2" }, ""},
		"kernel":                {func(r *result.Result) { r.Run.Host.Kernel = "5.10" }, "kernel's major version (6 and 5)"},
		"CPU":                   {func(r *result.Result) { r.Run.Host.CPUModel = "Xeon" }, "CPU model (EPYC and Xeon)"},
		"CPUs":                  {func(r *result.Result) { r.Run.Host.CPUs = new(4) }, "CPUs (2 and 4)"},
		"placement":             {func(r *result.Result) { r.Run.Placement = nil }, "placement ("},
		"congestion control":    {func(r *result.Result) { r.Run.Host.Settings.CongestionControl = &bbr }, "congestion control (cubic and bbr)"},
		"no settings":           {func(r *result.Result) { r.Run.Host.Settings = nil }, "congestion control (cubic and unknown)"},
		"no host":               {func(r *result.Result) { r.Run.Host = nil }, "CPU model (EPYC and unknown)"},
		"windtunnel":            {func(r *result.Result) { r.Run.Versions["windtunnel"] = "0.2.0" }, "windtunnel version (0.1.0 and 0.2.0)"},
		"k6":                    {func(r *result.Result) { delete(r.Run.Versions, "k6") }, "k6 version (1.8.1 and unknown)"},
	} {
		other := ofHost(c.change)
		text := strings.Join(own.Differences(other), ", ")
		if (c.named == "") != (text == "") || !strings.Contains(text, c.named) {
			t.Errorf("%s: differences %q, want %q", name, text, c.named)
		}
		if (own.Key() == other.Key()) != (c.named == "") {
			t.Errorf("%s: keys %s and %s", name, own.Key(), other.Key())
		}
	}
}

func TestHere(t *testing.T) {
	proc := t.TempDir()
	for name, text := range map[string]string{
		"cpuinfo":                             "processor\t: 0\nmodel name\t: EPYC\n\nprocessor\t: 1\nmodel name\t: EPYC\n",
		"sys/kernel/osrelease":                "6.1.0-9\n",
		"sys/net/ipv4/tcp_congestion_control": "cubic\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(proc, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(proc, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	own := ofHost(func(*result.Result) {})
	if differ := own.Excludes(read(proc)); len(differ) > 0 {
		t.Errorf("the same machine differs in %v", differ)
	}
	if differ := own.Excludes(read(t.TempDir())); len(differ) != 4 {
		t.Errorf("a machine that tells nothing differs in %v", differ)
	}
	other := ofHost(func(r *result.Result) { r.Run.Host.CPUs, r.Run.Host.CPUModel = new(8), "Xeon" })
	if differ := other.Excludes(read(proc)); len(differ) != 2 || differ[0] != "CPU model (Xeon and EPYC)" || differ[1] != "CPUs (8 and 2)" {
		t.Errorf("another machine differs in %v", differ)
	}
}

// TestModelsAreTheSidecars uses the same texts of /proc/cpuinfo as the sidecar's test.
func TestModelsAreTheSidecars(t *testing.T) {
	data, err := os.ReadFile("../../../tests/fixtures/cpu-models.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Case, CPUInfo, Model string }
	if err := json.Unmarshal(data, &cases); err != nil || len(cases) < 5 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		if model, _ := processors(c.CPUInfo); model != c.Model {
			t.Errorf("%s: %q, want %q", c.Case, model, c.Model)
		}
	}
}

// An unknown value equals nothing, not even the same machine's unknown value.
func TestUnknownIsNoClass(t *testing.T) {
	for name, change := range map[string]func(*result.Result){
		"no model":         func(r *result.Result) { r.Run.Host.CPUModel = "" },
		"its architecture": func(r *result.Result) { r.Run.Host.CPUModel = "aarch64" },
		"no CPUs":          func(r *result.Result) { r.Run.Host.CPUs = nil },
		"no host":          func(r *result.Result) { r.Run.Host = nil },
		"no version of k6": func(r *result.Result) { delete(r.Run.Versions, "k6") },
	} {
		if own := ofHost(change); len(own.Differences(own)) == 0 {
			t.Errorf("%s: two machines are of one class", name)
		}
	}
}
