// SPDX-License-Identifier: AGPL-3.0-only

package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const goodPanel = `{
  "schema": "windtunnel.environment/1",
  "name": "here",
  "systems": {
    "panel": {
      "url": "https://panel.example.net",
      "auth": { "mode": "login", "username": "admin", "password_env": "PANEL_PASSWORD" },
      "user": { "proxies": { "shadowsocks": {}, "vmess": {} }, "inbounds": { "shadowsocks": ["Shadowsocks TCP"] } },
      "database_env": "PANEL_DATABASE_URL",
      "components": ["route", "database"],
      "prometheus": { "path": "/metrics", "histogram": "panel_component_seconds", "label": "component" }
    }
  }
}`

func TestPanelProblems(t *testing.T) {
	path := filepath.Join(t.TempDir(), "here.json")
	for _, c := range []struct{ old, replacement, want string }{
		{"", "", ""},
		{`"inbounds": { "shadowsocks": ["Shadowsocks TCP"] }`, `"inbounds": {}`, ""},
		{`"inbounds": { "shadowsocks"`, `"inbounds": { "shadowsoks"`, `systems.panel.user.inbounds.shadowsoks: user.proxies has no such protocol; it has: shadowsocks, vmess; did you mean shadowsocks?`},
		{`, "inbounds": { "shadowsocks": ["Shadowsocks TCP"] }`, ``, `systems.panel.user.inbounds: missing; add it`},
		{`"user": {`, `"usr": {`, `systems.panel.usr: unknown key; known here: auth, components, database_env, dialect, prometheus, proxy, testbed, testbeds, thresholds, tls, url, user; did you mean user?`},
		{`"login", "username": "admin", "password_env": "PANEL_PASSWORD"`, `"none"`, `systems.panel.auth.mode: "none" is not one of login, token`},
		{`"PANEL_DATABASE_URL"`, `"mysql://u:hunter2@h/d"`, `systems.panel.database_env: does not match ^[A-Z][A-Z0-9_]*$; give the name of an environment variable, not its value`},
		{`["route", "database"]`, `"route"`, `systems.panel.components: is a string, must be an array`},
		{`"/metrics"`, `"metrics"`, `systems.panel.prometheus.path: "metrics" does not match ^/`},
		{`"label": "component"`, `"labels": "component"`, `systems.panel.prometheus.labels: unknown key; known here: histogram, label, path; did you mean label?`},
	} {
		if !strings.Contains(goodPanel, c.old) {
			t.Fatalf("no %q", c.old)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(goodPanel, c.old, c.replacement, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(File("", path, "x"), "\n")
		if c.want == "" && text != "" || !strings.Contains(text, c.want) || strings.Contains(text, "hunter2") {
			t.Errorf("%s: got %q, want %q", c.replacement, text, c.want)
		}
	}
	if err := os.WriteFile(path, []byte(goodPanel), 0o644); err != nil {
		t.Fatal(err)
	}
	env, problems := Environment("", path)
	if secrets := env.Systems["panel"].Secrets(); len(problems) > 0 || !slices.Equal(secrets, []string{"PANEL_PASSWORD", "PANEL_DATABASE_URL"}) {
		t.Errorf("%v %v", problems, secrets)
	}
}
