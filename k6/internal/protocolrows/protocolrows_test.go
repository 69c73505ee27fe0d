// SPDX-License-Identifier: AGPL-3.0-only

package protocolrows

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const own = "../../../testbeds/protocols"

func copied(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, kind := range []string{"rows", "engines"} {
		if err := os.CopyFS(filepath.Join(folder, kind), os.DirFS(filepath.Join(own, kind))); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestARowIsAFile(t *testing.T) {
	before, err := Read(own)
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Rows) < 54 || before.Rows[0].Name != "socks" || len(before.Engines) < 3 {
		t.Errorf("%d rows, the first is %s", len(before.Rows), before.Rows[0].Name)
	}
	folder := copied(t)
	write(t, folder, "rows/vmess-ws-mux.toml", "[rows.vmess-ws-mux]\nvariables = { protocol = \"vmess\", transport = \"ws\", multiplex = true }\n")
	write(t, folder, "rows/juicity.toml", "[rows.juicity]\norder = 0\n[parts.sing-box]\nclient.outbound = { type = \"juicity\" }\n")
	after, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(after.Rows); n != len(before.Rows)+2 || after.Rows[0].Name != "juicity" || after.Rows[n-1].Name != "vmess-ws-mux" {
		t.Errorf("%d rows, from %s to %s", n, after.Rows[0].Name, after.Rows[n-1].Name)
	}
	if why := after.Rows[0].Row["without"].(map[string]any)["xray"]; why != "testbeds/protocols/rows/juicity.toml has no part for xray" {
		t.Errorf("xray is without it: %v", why)
	}
	if why := after.Rows[0].Row["without"].(map[string]any)["mihomo"]; why != "testbeds/protocols/rows/juicity.toml has no part for mihomo" {
		t.Errorf("mihomo is without it: %v", why)
	}
	if protocol := after.Rows[0].Row["variables"].(map[string]any)["protocol"]; protocol != "juicity" {
		t.Errorf("its protocol is %v, not its file's", protocol)
	}
}

const engine = "[parts]\nreads = \"tor\"\nprogram = \"/tor\"\nconfig_option = \"\"\nversion = \"true\"\n"

func TestAnEngineIsAFile(t *testing.T) {
	folder := copied(t)
	write(t, folder, "engines/tor.toml", "[without]\n\"*-2022*\" = \"it is older than that\"\n[without_server]\n\"shadowsocks-*\" = \"it is a client only\"\n[without_client]\n\"*-chacha20\" = \"it is a server only\"\n"+
		engine+"[parts.protocols.shadowsocks]\nclient = {}\n")
	matrix, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	of := func(row, key string) any {
		for _, one := range matrix.Rows {
			if one.Name == row {
				reasons, _ := one.Row[key].(map[string]any)
				return reasons["tor"]
			}
		}
		return "no such row"
	}
	for _, c := range []struct {
		row, key string
		want     any
	}{
		{"shadowsocks-2022", "without", "it is older than that"},
		{"shadowsocks-chacha20", "without", nil},
		{"shadowsocks-chacha20", "without_server", "it is a client only"},
		{"shadowsocks-chacha20", "without_client", "it is a server only"},
		{"shadowsocks-2022", "without_client", nil},
		{"trojan", "without", "testbeds/protocols/rows/trojan.toml has no part for tor"},
		{"trojan", "without_server", nil},
	} {
		if why := of(c.row, c.key); why != c.want {
			t.Errorf("%s %s: %v", c.row, c.key, why)
		}
	}
	for text, want := range map[string]string{
		"[without]\nshadowsocs = \"it is older than that\"\n" + engine:   "engines/tor.toml: without.shadowsocs: there is no such row",
		strings.Replace(engine, "reads = \"tor\"", "reads = \"i2p\"", 1): "engines/tor.toml: parts.reads: there is no engines/i2p.toml",
	} {
		write(t, folder, "engines/tor.toml", text)
		if _, err := Read(folder); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAMalformedRowIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"[rows.new]\ntold = \"mbps\"\nvariables = { protocol = \"vmess\" }": "rows/new.toml: rows.new.told: variables has no mbps: give the rate there",
		"[rows.new]\nvariables = { protocol = \"redirect\" }":               "rows/new.toml: rows.new.variables.protocol: there is no rows/redirect.toml with parts",
		"needs = \"x\"":         "rows/new.toml: rows: missing",
		"[rows.new]\nknow = {}": "rows/new.toml: rows.new.know: ",
		"[rows.new]\nvariables = { protocol = \"vmess\" }\nknown = { xray = \"forgetful\" }":              "rows/new.toml: rows.new.known.xray: engines/xray.toml has no fault forgetful",
		"[rows.new]\nvariables = { protocol = \"vmess\" }\nknown_of_datagrams = { xray = \"forgetful\" }": "rows/new.toml: rows.new.known_of_datagrams.xray: engines/xray.toml has no fault forgetful",
		"[rows.new]\nvariables = { protocol = \"vmess\" }\nwithout = { xry = \"because\" }":               "rows/new.toml: rows.new.without.xry: there is no engines/xry.toml",
		"[rows.trojan]\nvariables = { protocol = \"vmess\" }":                                             "rows/trojan.toml: rows.trojan: another file has a row of that name",
		"carried_by = \"v3ray\"\n[rows.new]":                                                              "rows/new.toml: carried_by: engines/sing-box.toml has no carrier v3ray",
		"[rows.new]\n[parts.sing-box]\nsever = {}":                                                        "rows/new.toml: parts.sing-box.sever: unknown key",
		"left_out = [\"without a reason\"]\n[rows.new]":                                                   "rows/new.toml: left_out[0]: ",
		"[": "rows/new.toml: ",
	} {
		folder := copied(t)
		write(t, folder, "rows/new.toml", text)
		if _, err := Read(folder); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Read(t.TempDir()); err == nil || !strings.HasPrefix(err.Error(), "no rows/*.toml in ") {
		t.Error(err)
	}
}
