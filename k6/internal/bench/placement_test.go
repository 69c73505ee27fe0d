// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel/k6/internal/cpus"
	"windtunnel/k6/internal/exit"
)

// withDataplane gives a trial a data plane with one scenario that notes its variables.
func withDataplane(t *testing.T, tr *trial, dataplane string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(tr.Root, "scripts/dataplane"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := strings.ReplaceAll(tr.text(t, "scripts/pulsar/passes.js"), "'./_result.js'", "'../pulsar/_result.js'")
	script = strings.Replace(script, "write(data, 'passes', 'pass')", `tell(data)
function tell(data) {
  const told = ['PLACEMENT', 'PROBE_CPUS', 'ECHO_CPUS', 'SYSTEM_CPUS'].map((name) => __ENV[name]).join('|');
  const files = write(data, 'tell', 'pass', { notes: [told] });
  const [path, text] = Object.entries(files)[0];
  return { [path.replace('pulsar-', 'dataplane-')]: text.replace('"system":"pulsar"', '"system":"dataplane"') };
}`, 1)
	write(t, tr, "scripts/dataplane/tell.js", script)
	write(t, tr, "scripts/dataplane/system.toml", "probed = true")
	write(t, tr, "environments/here.json", `{"schema":"windtunnel.environment/1","name":"here","systems":{"dataplane":`+dataplane+`}}`)
	bed := `schema = "windtunnel.testbed/1"
name = "NAME"
system = "dataplane"
title = "A proxy"
[variables.cpus]
type = "string"
default = ""
description = "CPUs"
[variables.queue]
type = "integer"
default = 1
description = "capacity"
[[process]]
name = "proxy"
command = ["true"]
[outputs]
DATAPLANE_URL = "socks5://127.0.0.1:1"
`
	write(t, tr, "testbeds/proxy.toml", strings.Replace(bed, "NAME", "proxy", 1))
	write(t, tr, "testbeds/other.toml", strings.Replace(bed, "NAME", "other", 1))
	write(t, tr, "testbeds/needy.toml", strings.Replace(strings.Replace(bed, "NAME", "needy", 1), "default = 1\n", "", 1))
	write(t, tr, "testbeds/bare.toml", strings.Replace(strings.Replace(bed, "NAME", "bare", 1), "variables.cpus", "variables.size", 1))
}

func TestPlacementReachesScriptAndTestbed(t *testing.T) {
	allowed := cpus.Allowed()
	last := cpus.List(allowed[len(allowed)-1:])
	const proxy = `{"testbed":{"name":"proxy","variables":{"queue":5}},"auth":{"mode":"none"}}`
	for name, c := range map[string]struct {
		dataplane, testbed string
		environ            []string
		start, told        string
		says               string
	}{
		"default":  {proxy, "", nil, `proxy {"variables":{"cpus":"` + last + `","queue":5}}`, strings.Repeat("|"+last, 3), ""},
		"variable": {proxy, "", []string{"PLACEMENT=free"}, `proxy {"variables":{"cpus":"","queue":5}}`, "free|||", ""},
		"cpus given": {proxy, "proxy:cpus=0", nil, `proxy {"variables":{"cpus":"0","queue":5}}`,
			"shared|" + last + "|" + last + "|0", ""},
		"another testbed": {proxy, "other:queue=9", []string{"PLACEMENT=free"}, `other {"variables":{"cpus":"","queue":9}}`, "free|||", ""},
		"no cpus declared": {proxy, "bare", nil, `bare {"variables":{}}`, "shared|" + last + "|" + last + "|",
			"testbeds/bare.toml declares no variable cpus: its processes are not pinned\n"},
		"up already": {`{"url":"socks5://127.0.0.1:1","auth":{"mode":"none"},"placement":"shared"}`, "", nil, "", "shared|" + last + "|" + last + "|", ""},
		"testbed in place of a URL": {`{"url":"socks5://127.0.0.1:1","auth":{"mode":"none"},"placement":"free"}`, "proxy:queue=3", nil,
			`proxy {"variables":{"cpus":"","queue":3}}`, "free|||", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, "here", "dataplane/tell", c.environ...)
			withDataplane(t, tr, c.dataplane)
			tr.Testbed = c.testbed
			if code := Run(tr.Options); code != exit.Pass {
				t.Fatalf("code %d\n%s%s", code, tr.out, tr.err)
			}
			want(t, tr.text(t, "results/test/dataplane-tell.json"), c.told)
			if c.start != "" {
				want(t, tr.text(t, "events"), "start "+c.start)
			} else if strings.Contains(tr.text(t, "events"), "start") {
				t.Error("started a testbed")
			}
			if tr.err.String() != c.says {
				t.Errorf("%q", tr.err)
			}
		})
	}
}

func TestDataplanePreflight(t *testing.T) {
	const proxy = `{"testbed":{"name":"proxy"},"auth":{"mode":"none"}}`
	for name, c := range map[string]struct {
		dataplane, testbed string
		environ            []string
		change             func(*trial)
		code               int
		says               string
	}{
		"placement":          {proxy, "", []string{"PLACEMENT=splt"}, nil, exit.Usage, "dataplane/tell: unknown placement splt; did you mean split?"},
		"testbed":            {proxy, "prxy", nil, nil, exit.Usage, `there is no testbed "prxy"; there are: bare, needy, other, proxy, pulsar-relay; did you mean proxy?`},
		"no default":         {proxy, "needy", nil, nil, exit.Usage, "testbeds/needy.toml has no default for the variable queue: give needy:queue=…"},
		"variable":           {proxy, "proxy:queu=1", nil, nil, exit.Usage, "declares no such variable; it declares: cpus, queue; did you mean queue?"},
		"value":              {proxy, "proxy:queue=x", nil, nil, exit.Usage, "variable queue: is a string, and must be an integer"},
		"system":             {proxy, "pulsar-relay", nil, nil, exit.Usage, "starts the system pulsar, which environments/here.json does not have (it has: dataplane)"},
		"password not set":   {`{"url":"socks5://127.0.0.1:1","auth":{"mode":"password","username":"u","password_env":"SOCKS_PASSWORD"}}`, "", nil, nil, exit.Usage, "SOCKS_PASSWORD is not set"},
		"other hosts":        {`{"url":"socks5://p.example.net:1","auth":{"mode":"none"},"target":{"udp":"e.example.net:9"}}`, "", []string{"CONFIRM_REMOTE=p.example.net"}, nil, exit.Usage, "set CONFIRM_REMOTE=p.example.net,e.example.net"},
		"probes need it too": {`{"url":"socks5://127.0.0.1:1","auth":{"mode":"none"}}`, "", nil, func(tr *trial) { tr.Sidecar += "-none" }, exit.Setup, "run `make build`"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, "here", "dataplane/tell", c.environ...)
			withDataplane(t, tr, c.dataplane)
			tr.Testbed = c.testbed
			if c.change != nil {
				c.change(tr)
			}
			if code := Run(tr.Options); code != c.code {
				t.Errorf("code %d, want %d", code, c.code)
			}
			want(t, tr.err.String(), c.says)
			if lines := strings.Count(tr.err.String(), "\n"); lines != 1 {
				t.Errorf("%d lines: %s", lines, tr.err)
			}
		})
	}
}

func TestConfirmedHostsAreAllowedTargets(t *testing.T) {
	tr := newTrial(t, "here", "dataplane/tell", "CONFIRM_REMOTE=p.example.net,e.example.net")
	withDataplane(t, tr, `{"url":"socks5://p.example.net:1","auth":{"mode":"none"},"target":{"udp":"e.example.net:9"}}`)
	if code := Run(tr.Options); code != exit.Pass {
		t.Fatalf("code %d\n%s%s", code, tr.out, tr.err)
	}
	want(t, tr.text(t, "events"), "--allow-target p.example.net --allow-target e.example.net")
}

func TestSidecarWithoutToken(t *testing.T) {
	tr := newTrial(t, "local", "pulsar/passes", "FAKE_SIDECAR=tokenless")
	if code := Run(tr.Options); code != exit.Pass {
		t.Errorf("code %d\n%s%s", code, tr.out, tr.err)
	}
}
