// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
)

const twoPanels = `{"schema":"windtunnel.environment/1","name":"panels","systems":{"panel":{
  "url":"http://127.0.0.1:1","auth":{"mode":"login","username":"admin","password_env":"MARZBAN_PASSWORD"},
  "user":{"proxies":{"shadowsocks":{}},"inbounds":{"shadowsocks":["t"]}},"database_env":"MARZBAN_DATABASE_URL"}}}`

func askedPanels(t *testing.T, environ ...string) (Asked, []Scenario) {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("../bench/testdata/root")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "environments/panels.json"), []byte(twoPanels), 0o644); err != nil {
		t.Fatal(err)
	}
	a := Asked{Root: root, Profile: "smoke", Env: "panels", Only: "panel/create", Environ: environ}
	scenarios, f := Named(root, []string{"panel/create"})
	if f != nil {
		t.Fatal(f)
	}
	return a, scenarios
}

// TestSecretsOfEachSide has sides with different passwords, one database, and a user name only of B.
func TestSecretsOfEachSide(t *testing.T) {
	a, scenarios := askedPanels(t, "MARZBAN_PASSWORD=neither", "MARZBAN_PASSWORD_A=old", "MARZBAN_PASSWORD_B=new", "MARZBAN_DATABASE_URL=sqlite:////x",
		"PANEL_USERNAME_B=root", "PANEL_URL=http://127.0.0.1:9", "PATH=/bin")
	for letter, want := range map[string][]string{
		"A": {"MARZBAN_DATABASE_URL=sqlite:////x", "MARZBAN_PASSWORD=old", "PANEL_URL=http://127.0.0.1:2", "PATH=/bin"},
		"B": {"MARZBAN_DATABASE_URL=sqlite:////x", "MARZBAN_PASSWORD=new", "PANEL_URL=http://127.0.0.1:2", "PANEL_USERNAME=root", "PATH=/bin"},
	} {
		side, f := a.Side("http://127.0.0.1:2/", letter, scenarios)
		if f != nil {
			t.Fatal(f)
		}
		if got := slices.Sorted(slices.Values(side.Environ)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", letter, got, want)
		}
		p, f := Make(side)
		if f != nil {
			t.Fatal(f)
		}
		if system := p.Env.Systems["panel"]; system.URL != "http://127.0.0.1:2" || system.Testbed != nil {
			t.Errorf("%s: %+v", letter, system)
		}
		if secrets := p.Secrets(side); !slices.Contains(secrets, strings.TrimPrefix(want[1], "MARZBAN_PASSWORD=")) || slices.Contains(secrets, "neither") {
			t.Errorf("%s: secrets %v", letter, secrets)
		}
	}
}

func TestSidesThatAreRefused(t *testing.T) {
	for spec, c := range map[string]struct {
		environ []string
		says    string
	}{
		"https://panel.example.net":     {[]string{"MARZBAN_PASSWORD=p"}, "panel.example.net is not this machine; to put load on it"},
		"https://user:geheim@127.0.0.1": {[]string{"MARZBAN_PASSWORD=p"}, "B is not the URL of a system: give SCHEME://HOST[:PORT] without a user and a password"},
		"http://":                       {[]string{"MARZBAN_PASSWORD=p"}, "B is not the URL of a system"},
		"http://127.0.0.1:3":            {[]string{"MARZBAN_PASSWORD_A=p"}, "MARZBAN_PASSWORD is not set"},
		"env:panels":                    {[]string{"MARZBAN_PASSWORD=p", "PANEL_URL=http://127.0.0.1:4"}, "B=env:panels: PANEL_URL is set and would replace the environment's URL: unset it"},
		"env:no-such":                   {[]string{"MARZBAN_PASSWORD=p"}, "no environment no-such; there are: "},
		"no-such:arguments=http://x/y":  {nil, `there is no testbed "no-such"`},
	} {
		a, scenarios := askedPanels(t, c.environ...)
		side, f := a.Side(spec, "B", scenarios)
		if f == nil {
			_, f = Make(side)
		}
		if f == nil || f.Code != exit.Usage || !strings.HasPrefix(f.Message, c.says) || strings.Contains(f.Message, "geheim") {
			t.Errorf("%s: got %+v, want %s", spec, f, c.says)
		}
	}
	a, scenarios := askedPanels(t, "MARZBAN_PASSWORD=p", "CONFIRM_REMOTE=panel.example.net")
	side, f := a.Side("https://panel.example.net", "A", scenarios)
	if f == nil {
		_, f = Make(side)
	}
	if f != nil {
		t.Errorf("a host that is confirmed is refused: %+v", f)
	}
}
