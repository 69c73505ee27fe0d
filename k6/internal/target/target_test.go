// SPDX-License-Identifier: AGPL-3.0-only

package target

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/variables"
)

// checkout is a root with a few scenarios.
func checkout(t *testing.T) string {
	t.Helper()
	base := t.TempDir()
	for name, text := range map[string]string{"pulsar/ingest.js": "", "pulsar/_cleanup.js": "", "dataplane/socks-tcp.js": "", "protocols/matrix.js": "",
		"protocols/interop.js": "", "web/get.js": "", "dataplane/system.toml": `testbeds = ["xray-pair", "tproxy:engine=sing-box"]`, "bad/system.toml": "testbed = 1"} {
		path := filepath.Join(base, "scripts", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

// written is a call on one line: what it sets, and its arguments.
func written(call Call) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(call.Set)) {
		words = append(words, fmt.Sprintf("%s=%s", name, call.Set[name]))
	}
	return strings.Join(append(words, call.Args...), " ")
}

// given reads NAME=VALUE words.
func given(text string) map[string]string {
	env := map[string]string{}
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		env[name] = value
	}
	return env
}

func TestWhatATargetNeedsAndCalls(t *testing.T) {
	const interop = "ONLY=protocols/interop PROGRAMS=sing-box,xray "
	for _, c := range []struct{ target, env, needs, calls string }{
		{"bench", "ONLY=panel", "needs", "bench"},
		{"pulsar", "", "ONLY=pulsar needs", "ONLY=pulsar bench"},
		{"pulsar", "ONLY=pulsar/ingest,pulsar-bulk", "ONLY=pulsar/ingest,pulsar-bulk needs", "ONLY=pulsar/ingest,pulsar-bulk bench"},
		{"pulsar-ingest", "RATE=500", "ONLY=pulsar/ingest needs", "ONLY=pulsar/ingest bench"},
		{"dataplane/socks-tcp", "", "ONLY=dataplane/socks-tcp needs", "ONLY=dataplane/socks-tcp bench"},
		{"dataplane-socks-tcp", "ENV=mine", "ONLY=dataplane/socks-tcp needs", "ONLY=dataplane/socks-tcp bench"},
		{"web", "ENV=mine", "ONLY=web needs", "ONLY=web bench"},
		{"dataplane", "TESTBED=xray RUN_ID=r", "ONLY=dataplane needs --testbed xray", "MAY_LEAVE_OUT= ONLY=dataplane RUN_ID=r-xray TESTBED=xray bench"},
		{"dataplane", "DATAPLANE_TESTBEDS=tproxy:engine=sing-box RUN_ID=r", "ONLY=dataplane needs --testbed tproxy:engine=sing-box",
			"MAY_LEAVE_OUT=1 ONLY=dataplane RUN_ID=r-tproxy-engine-sing-box TESTBED=tproxy:engine=sing-box bench"},
		{"dataplane", "ENV=other", "ONLY=dataplane needs", "MAY_LEAVE_OUT=1 ONLY=dataplane TESTBED= bench"},
		{"protocols-interop", "PROGRAMS=sing-box,xray", interop + "needs", interop + "bench"},
		{"protocols-compare", "CANDIDATE=xray", "ONLY=protocols/matrix PROFILE=quick needs", "ONLY=protocols/matrix PROFILE=quick bench"},
		{"protocols-compare", "CANDIDATE=xray PROFILE=full", "ONLY=protocols/matrix PROFILE=full needs", "ONLY=protocols/matrix PROFILE=full bench"},
		{"compare", "A=xray B=sing-box SCENARIO=dataplane-socks-tcp", "needs --scenario dataplane-socks-tcp --testbed xray --testbed sing-box",
			"compare --a xray --b sing-box --scenario dataplane-socks-tcp"},
		{"compare", "A=x B=x SCENARIO=s RUNS=12 WORSE_BY=5 SECONDARY=off SAME=1", "needs --scenario s --testbed x --testbed x",
			"compare --a x --b x --runs 12 --same --scenario s --secondary off --worse-by 5"},
		{"compare", "PROTOCOL=trojan A=/a B=/b", "BASELINE= CANDIDATE= ONLY=protocols/matrix needs", "compare --protocol trojan --a /a --b /b"},
		{"compare", "BASE=v1 HEAD=v2 REPOSITORY=/r BUILD=b BINARY=out TESTBED=own-proxy SCENARIO=s MINUTES=5", "",
			"compare --base v1 --binary out --build b --head v2 --minutes 5 --repository /r --scenario s --testbed own-proxy"},
		{"panel-compare", "A=pymysql B=panel:driver=sqlite", "PROFILE=quick needs --scenario " + PanelScenarios + " --testbed panel:driver=pymysql --testbed panel:driver=sqlite",
			"PROFILE=quick compare --a panel:driver=pymysql --b panel:driver=sqlite --scenario " + PanelScenarios},
	} {
		plan, wrong := Of(c.target, checkout(t), given(c.env))
		if wrong != nil || plan.Refused != nil {
			t.Fatalf("%s %s: %v %v", c.target, c.env, wrong, plan.Refused)
		}
		var calls []string
		for _, call := range plan.Calls {
			calls = append(calls, written(call))
		}
		if got := written(plan.Needs); got != c.needs {
			t.Errorf("%s %s needs %q", c.target, c.env, got)
		}
		if got := strings.Join(calls, "; "); got != c.calls {
			t.Errorf("%s %s calls %q", c.target, c.env, got)
		}
	}
}

func TestASystemRunsOnAllOfItsTestbeds(t *testing.T) {
	plan, wrong := Of("dataplane", checkout(t), given("ENV=local"))
	if wrong != nil || len(plan.Calls) != 2 || plan.Calls[1].Set["TESTBED"] != "tproxy:engine=sing-box" {
		t.Errorf("%v %+v", wrong, plan)
	}
}

func TestProgramsThatNoTestbedStartsAreBuilt(t *testing.T) {
	plan, _ := Of("protocols-interop", checkout(t), given(""))
	if !slices.Equal(plan.Built, []string{"bin/sing-box", "bin/sing-box-1.13", "bin/sing-box-next", "bin/xray", "bin/mihomo"}) {
		t.Errorf("%v", plan.Built)
	}
}

func TestEachVariableOfCompareIsHandedOn(t *testing.T) {
	for _, v := range variables.OfCommand("compare") {
		env := map[string]string{"A": "a", "B": "b", v.Name: "value"}
		if v.Flags["compare"] == variables.OfBuilds {
			env["HEAD"] = "value"
		}
		if plan, _ := Of("compare", "", env); !slices.Contains(plan.Calls[0].Args, "--"+variables.FlagName(v.Name)) {
			t.Errorf("%s: %q", v.Name, plan.Calls[0].Args)
		}
	}
}

func TestScriptsDoNotGetWhatIsTheComparisons(t *testing.T) {
	plan, _ := Of("compare", checkout(t), given("A=a B=b SCENARIO=s RUNS=3"))
	for _, name := range []string{"RUNS", "A", "B", "TESTBED", "SECONDARY"} {
		if !slices.Contains(plan.Calls[0].Unset, name) {
			t.Errorf("scripts get %s", name)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	const contradicts = "names what is not of"
	for _, c := range []struct{ target, env, line string }{
		{"pulsar", "ONLY=panel", "ONLY=panel " + contradicts + " pulsar: leave it out, or run `make bench`"},
		{"pulsar", "ONLY=pulsar,panel", "ONLY=pulsar,panel " + contradicts + " pulsar: leave it out, or run `make bench`"},
		{"protocols-matrix", "ONLY=protocols/interop", "ONLY=protocols/interop " + contradicts + " protocols/matrix: leave it out, or run `make bench`"},
		{"protocols-compare", "ONLY=panel", "ONLY=panel " + contradicts + " protocols/matrix: leave it out, or run `make bench`"},
		{"pulsar-_cleanup", "", "pulsar-_cleanup is no target that measures"},
		{"bad", "", "scripts/bad/system.toml: testbed: unknown key; known here: own_links, probed, scenarios, testbeds; did you mean testbeds?"},
		{"nothing", "", "nothing is no target that measures"},
	} {
		if _, wrong := Of(c.target, checkout(t), given(c.env)); wrong == nil || wrong.Code != 2 || wrong.Message != c.line {
			t.Errorf("%s %s: %v", c.target, c.env, wrong)
		}
	}
	plan, wrong := Of("protocols-compare", checkout(t), given(""))
	if wrong != nil || plan.Refused == nil || plan.Refused.Message != "make: CANDIDATE is not set: give the absolute path of a program, an engine (hysteria, mihomo, shadowsocks-rust, xray), ENGINE:/absolute/path, or a FILE.toml" {
		t.Errorf("%v %v", wrong, plan.Refused)
	}
}
