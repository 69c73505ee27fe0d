// SPDX-License-Identifier: AGPL-3.0-only

package check

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const goodDataplane = `{
  "schema": "windtunnel.environment/1",
  "name": "here",
  "systems": {
    "dataplane": {
      "url": "socks5://[::1]:1080",
      "auth": { "mode": "password", "username": "u", "password_env": "SOCKS_PASSWORD" },
      "placement": { "default": "shared", "throughput": "split" },
      "target": { "tcp": "127.0.0.1:9000", "udp": "proxy.example.net:9000" },
      "thresholds": { "socks-tcp": { "tcp": { "p(95)": 1 } } }
    }
  }
}`

func TestDataplaneProblems(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "environments", "here.json")
	for _, dir := range []string{"environments", "scripts/dataplane"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const script = "export const options = { ext: { windtunnel: { operations: ['tcp'] } } };\nexport default function () {}\n"
	for _, name := range []string{"socks-tcp", "throughput", "_shared"} {
		if err := os.WriteFile(filepath.Join(root, "scripts/dataplane", name+".js"), []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "scripts/dataplane/system.toml"), []byte("probed = true"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, replacement, want string }{
		{"", "", ""},
		{`{ "default": "shared", "throughput": "split" }`, `"free"`, ""},
		{`"password", "username": "u", "password_env": "SOCKS_PASSWORD"`, `"none"`, ""},
		{`socks5://[::1]:1080`, `http://127.0.0.1:1080`, `systems.dataplane.url: "http://127.0.0.1:1080" does not match`},
		{`socks5://[::1]:1080`, `socks5://u:p@127.0.0.1:1080`, `(socks5://HOST:PORT, without credentials`},
		{`socks5://[::1]:1080`, `socks5://127.0.0.1`, `does not match`},
		{`"password_env": "SOCKS_PASSWORD"`, `"pasword_env": "X"`, `known here: mode, password_env, username; did you mean password_env?`},
		{`"username": "u", `, ``, `systems.dataplane.auth.username: missing; add it`},
		{`"mode": "password"`, `"mode": "pasword"`, `"pasword" is not one of none, password; did you mean password?`},
		{`{ "default": "shared", "throughput": "split" }`, `"splt"`, `systems.dataplane.placement: "splt" does not match ^(shared|split|free)$ (shared, split or free`},
		{`"throughput": "split"`, `"throughput": "splt"`, `systems.dataplane.placement.throughput: "splt" is not one of shared, split, free; did you mean split?`},
		{`"default": "shared", `, ``, `systems.dataplane.placement.default: missing; add it: one of shared, split, free`},
		{`"throughput": "split"`, `"thruput": "split"`, `systems.dataplane.placement.thruput: there is no such scenario; there are: default, socks-tcp, throughput`},
		{`{ "default": "shared", "throughput": "split" }`, `3`, `systems.dataplane.placement: is a number, must be a string or an object`},
		{`"placement":`, `"tls": { "ca": "ca.pem", "server_name": "proxy.internal", "client_cert": "c.pem", "client_key": "k.pem" }, "placement":`, ""},
		{`"placement":`, `"tls": { "insecure": true }, "placement":`, ""},
		{`"placement":`, `"tls": {}, "placement":`, `systems.dataplane.tls: is empty, needs at least one of ca, client_cert, client_key, insecure, server_name`},
		{`"placement":`, `"tls": { "client_cert": "c.pem" }, "placement":`, `systems.dataplane.tls`},
		{`"placement":`, `"tls": { "ac": "ca.pem" }, "placement":`, `systems.dataplane.tls.ac: unknown key; known here: ca, client_cert, client_key, insecure, server_name`},
		{`"dataplane": {`, `"link": { "url": "socks5://127.0.0.1:1", "auth": { "mode": "none" }, "tls": { "insecure": true } }, "dataplane": {`, `systems.link.tls: unknown key; known here: auth, placement, target, testbed, testbeds, thresholds, url`},
		{`"127.0.0.1:9000"`, `"127.0.0.1"`, `systems.dataplane.target.tcp: "127.0.0.1" does not match`},
		{`"tcp": "127.0.0.1:9000"`, `"tpc": "127.0.0.1:9000"`, `systems.dataplane.target.tpc: unknown key; known here: tcp, udp`},
	} {
		if !strings.Contains(goodDataplane, c.old) {
			t.Fatalf("no %q", c.old)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(goodDataplane, c.old, c.replacement, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(File(root, path, "x"), "\n")
		if c.want == "" && text != "" || !strings.Contains(text, c.want) {
			t.Errorf("%s: got %q, want %q", c.replacement, text, c.want)
		}
	}
	if err := os.WriteFile(path, []byte(goodDataplane), 0o644); err != nil {
		t.Fatal(err)
	}
	env, problems := Environment(root, "here")
	of := env.Systems["dataplane"]
	if len(problems) > 0 || of.Placement.Of("throughput") != "split" || of.Placement.Of("socks-tcp") != "shared" {
		t.Errorf("%v %+v", problems, of)
	}
	if got := of.RemoteHosts(); !slices.Equal(got, []string{"proxy.example.net"}) {
		t.Errorf("%v", got)
	}
	if got := of.Auth.Secrets(); !slices.Equal(got, []string{"SOCKS_PASSWORD"}) {
		t.Errorf("%v", got)
	}
}

func TestTestbedSpec(t *testing.T) {
	root := folder(t, "testbeds/relay.toml", `pattern = "[a-z][0-9]"`, `pattern = "[a-z0-9,-]+"`)
	withRealSidecar(t, root)
	for text, want := range map[string]string{
		"relay": `{}`,
		"relay:queue=7,mode=bee,fast=false,port=0,label=0,2": `{"fast":false,"label":"0,2","mode":"bee","port":0,"queue":7}`,
		" relay:label=x=1 ": `error: testbed relay: variable label: is x=1, and must be a string that matches [a-z0-9,-]+`,
		"rely":              `error: there is no testbed "rely"; there are: relay; did you mean relay?`,
		"../relay":          `error: there is no testbed "../relay"`,
		"":                  `error: there is no testbed ""`,
		"relay:queu=7":      `error: testbed relay: variable queu: testbeds/relay.toml declares no such variable; it declares: fast, label, mode, port, queue; did you mean queue?`,
		"relay:queue":       `error: testbed relay: "queue" is no VARIABLE=VALUE`,
		"relay:queue=x":     `error: testbed relay: variable queue: is a string, and must be an integer from 1 to 100`,
		"relay:queue=700":   `error: testbed relay: variable queue: is 700, and must be an integer from 1 to 100`,
		"relay:fast=1":      `error: testbed relay: variable fast: is a string, and must be true or false`,
		"relay:mode=be":     `error: testbed relay: variable mode: is be, and must be one of a, bee; did you mean bee?`,
		"relay:port=x":      `error: testbed relay: variable port: is a string, and must be a port from 1 to 65535`,
	} {
		ref, bed, err := TestbedSpec(root, text)
		got := ""
		if err != nil {
			got = "error: " + err.Error()
		} else {
			data, _ := json.Marshal(ref.Variables)
			got = string(data)
			if bed.System != "pulsar" || ref.Name != "relay" {
				t.Errorf("%s: %+v", text, ref)
			}
		}
		if !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "testbeds/relay.toml"), []byte("x = "), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := TestbedSpec(root, "relay"); err == nil || !strings.HasPrefix(err.Error(), "testbeds/relay.toml: line 1") {
		t.Error(err)
	}
}
