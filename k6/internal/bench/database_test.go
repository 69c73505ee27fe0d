// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/plan"
)

const (
	panelUp   = `{"url":"http://127.0.0.1:1","auth":{"mode":"token","token_env":"PANEL_TOKEN"},"user":{"proxies":{"vmess":{}},"inbounds":{}},"database_env":"PANEL_DATABASE_URL"}`
	panelBed  = `{"testbed":{"name":"panel"},"auth":{"mode":"token","token_env":"PANEL_TOKEN"},"user":{"proxies":{"vmess":{}},"inbounds":{}},"database_env":"PANEL_DATABASE_URL"}`
	panelFile = `schema = "windtunnel.testbed/1"
name = "panel"
system = "panel"
title = "A panel"
[[process]]
name = "panel"
command = ["true"]
[outputs]
PANEL_DATABASE_URL = "sqlite:////panel.sqlite3"
`
)

// withPanel gives a trial a panel with one scenario that reports what it knows of the database.
func withPanel(t *testing.T, tr *trial, panel string) {
	t.Helper()
	write(t, tr, "environments/here.json", `{"schema":"windtunnel.environment/1","name":"here","systems":{"panel":`+panel+`}}`)
	write(t, tr, "testbeds/panel.toml", panelFile)
	write(t, tr, "scripts/panel/create.js", `import { write } from '../pulsar/_result.js';
export const options = { vus: 1, iterations: 1 };
const url = __ENV.PANEL_DATABASE_URL || 'none';
const password = decodeURIComponent(url.replace(/^.*?:\/\/.*?:(.*)@.*/, '$1'));
const told = 'whole ' + url + ' meant ' + password + ' encoded ' + encodeURIComponent(url);
export default function () { console.error(told); }
export const handleSummary = (data) => {
  const [path, text] = Object.entries(write(data, 'create', 'pass', { notes: [told] }))[0];
  return { [path.replace('pulsar-', 'panel-')]: text.replace('"system":"pulsar"', '"system":"panel"') };
};
`)
}

func TestDatabasePreflight(t *testing.T) {
	const remote = "mysql://panel:s3cret@db.example.net:3306/panel"
	elsewhere := strings.Replace(panelUp, "127.0.0.1:1", "panel.example.net", 1)
	const says = "db.example.net, where the database of PANEL_DATABASE_URL is, is not this machine; to write into it, which you may do only with its owner's consent, set CONFIRM_REMOTE="
	const malformed = "PANEL_DATABASE_URL does not hold the URL of a database that is known here; give mysql://USER:PASSWORD@HOST:PORT/NAME (an @ of the password as %40) or sqlite:////ABSOLUTE/FILE\n"
	for name, c := range map[string]struct {
		panel   string
		environ []string
		says    string
	}{
		"another machine": {panelUp, []string{"PANEL_DATABASE_URL=" + remote}, says + "db.example.net\n"},
		"panel confirmed": {elsewhere, []string{"PANEL_DATABASE_URL=" + remote, "CONFIRM_REMOTE=panel.example.net"}, says + "panel.example.net,db.example.net\n"},
		"none confirmed":  {elsewhere, []string{"PANEL_DATABASE_URL=" + remote}, "panel.example.net is not this machine; to put load on it, which you may do only with its owner's consent, set CONFIRM_REMOTE=panel.example.net,db.example.net\n"},
		"no URL":          {panelUp, []string{"PANEL_DATABASE_URL=s3cret"}, malformed},
		"another kind":    {panelUp, []string{"PANEL_DATABASE_URL=postgresql://panel:s3cret@127.0.0.1/panel"}, malformed},
		"an @":            {panelUp, []string{"PANEL_DATABASE_URL=mysql://panel:s3cret@x@127.0.0.1/panel"}, malformed},
		"no output": {strings.Replace(panelBed, "PANEL_DATABASE_URL", "PANEL_DATABAS_URL", 1), nil,
			"environments/here.json takes systems.panel.database_env from PANEL_DATABAS_URL, which is neither an output of testbeds/panel.toml nor set; did you mean PANEL_DATABASE_URL?\n"},
		"no output, set": {strings.Replace(panelBed, "PANEL_DATABASE_URL", "OTHER_URL", 1), []string{"OTHER_URL=" + remote},
			strings.Replace(says, "PANEL_DATABASE_URL", "OTHER_URL", 1) + "db.example.net\n"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, "here", "panel", append(c.environ, "PANEL_TOKEN=t0ken")...)
			withPanel(t, tr, c.panel)
			if code := Run(tr.Options); code != exit.Usage || tr.err.String() != c.says {
				t.Errorf("code %d\n%swant:\n%s", code, tr.err, c.says)
			}
		})
	}
}

func TestDatabaseIsOptional(t *testing.T) {
	for name, c := range map[string]struct {
		panel   string
		environ []string
		says    string
	}{
		"not set":   {panelUp, nil, "PANEL_DATABASE_URL is not set: nothing of systems.panel is seeded or checked by SQL\n"},
		"confirmed": {panelUp, []string{"PANEL_DATABASE_URL=mysql://panel:s3cret@db.example.net/panel", "CONFIRM_REMOTE=db.example.net"}, ""},
		"here":      {panelUp, []string{"PANEL_DATABASE_URL=mariadb+pymysql://panel:s3cret@localhost/panel"}, ""},
		"a file":    {panelUp, []string{"PANEL_DATABASE_URL=sqlite:////var/lib/panel.sqlite3"}, ""},
		// The testbed's own URL replaces the caller's, which names another host.
		"an output": {panelBed, []string{"PANEL_DATABASE_URL=mysql://panel:s3cret@db.example.net/panel"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, "here", "panel", append(c.environ, "PANEL_TOKEN=t0ken")...)
			withPanel(t, tr, c.panel)
			if p, f := plan.Make(tr.Asked); f != nil || strings.Join(append(p.LeftOut, ""), "\n") != c.says {
				t.Errorf("%+v %q", f, p.LeftOut)
			}
		})
	}
}

func TestDatabaseSecretsStayOut(t *testing.T) {
	for _, escaped := range []string{"s3cret%40word%2F1", "s3cret:word"} {
		const user = "mysql+asyncmy://panel:"
		tr := newTrial(t, "here", "panel", "PANEL_TOKEN=t0ken", "PANEL_DATABASE_URL="+user+escaped+"@127.0.0.1/panel")
		withPanel(t, tr, panelUp)
		if code := Run(tr.Options); code != exit.Pass {
			t.Fatalf("code %d\n%s%s", code, tr.out, tr.err)
		}
		want(t, tr.text(t, "results/test/logs/panel-create.k6.log"), "whole [secret] meant [secret] encoded [secret]")
		want(t, tr.text(t, "results/test/panel-create.json"), `"notes":["whole [secret] meant [secret] encoded [secret]"]`)
		err := filepath.WalkDir(filepath.Join(tr.Root, "results"), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if strings.Contains(string(data), "s3cret") {
				t.Errorf("%s holds the password", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		if screen := tr.out.String() + tr.err.String(); strings.Contains(screen, "s3cret") {
			t.Errorf("the screen shows the password: %s", screen)
		}
	}
}
