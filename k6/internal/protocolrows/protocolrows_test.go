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
	if len(before.Rows) < 54 || before.Rows[0].Name != "socks" || len(before.Engines) != 2 {
		t.Errorf("%d rows, the first is %s", len(before.Rows), before.Rows[0].Name)
	}
	folder := copied(t)
	write(t, folder, "rows/vmess-ws-mux.json", `{"variables": {"protocol": "vmess", "security": "tls", "transport": "ws", "multiplex": true}}`)
	write(t, folder, "rows/snell-first.json", `{"order": 0, "variables": {"protocol": "snell"}}`)
	after, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(after.Rows); n != len(before.Rows)+2 || after.Rows[0].Name != "snell-first" || after.Rows[n-1].Name != "vmess-ws-mux" {
		t.Errorf("%d rows, from %s to %s", n, after.Rows[0].Name, after.Rows[n-1].Name)
	}
}

func TestAMalformedRowIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		`{"variables": {}}`: "rows/new.json: variables.protocol: missing",
		`{"variables": {"protocol": "vmess"}, "know": {}}`:                     "rows/new.json: know: ",
		`{"variables": {"protocol": "vmess"}, "known": {"xray": "forgetful"}}`: "rows/new.json: known.xray: engines/xray.json has no fault forgetful",
		`{`: "rows/new.json: ",
	} {
		folder := copied(t)
		write(t, folder, "rows/new.json", text)
		if _, err := Read(folder); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Read(t.TempDir()); err == nil || !strings.HasPrefix(err.Error(), "no rows/*.json in ") {
		t.Error(err)
	}
}
