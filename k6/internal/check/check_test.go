// SPDX-License-Identifier: AGPL-3.0-only

package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goodTestbed = `schema = "windtunnel.testbed/1"
name = "relay"
system = "pulsar"
title = "A relay"

[variables.queue]
type = "integer"
default = 10
min = 1
max = 100
description = "capacity"

[variables.mode]
type = "choice"
default = "a"
choices = ["a", "bee"]
description = "mode"

[variables.port]
type = "port"
default = 0
description = "port"

[variables.fast]
type = "boolean"
default = true
description = "fast"

[variables.label]
type = "string"
default = "x1"
pattern = "[a-z][0-9]"
description = "label"

[[process]]
name = "relay"
command = ["true"]
ready = { log = "up" }

[outputs]
PULSAR_URL = "http://127.0.0.1:1"
`

const goodEnvironment = `{
  "schema": "windtunnel.environment/1",
  "name": "here",
  "systems": {
    "pulsar": {
      "testbed": { "name": "relay", "variables": { "queue": 5, "mode": "bee", "port": 0, "fast": false, "label": "q7" } },
      "auth": { "mode": "login", "username": "admin", "password_env": "PULSAR_PASSWORD" },
      "websocket": { "auth": "subprotocol" },
      "thresholds": { "ingest": { "publish": { "p(95)": 20 } } }
    }
  }
}`

// folder makes a checkout with a valid environment and a valid testbed, in which one file is changed by the replacement.
func folder(t *testing.T, file, old, replacement string) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range map[string]string{"environments/here.json": goodEnvironment, "testbeds/relay.toml": goodTestbed} {
		if path == file {
			if !strings.Contains(text, old) {
				t.Fatalf("no %q in %s", old, path)
			}
			text = strings.Replace(text, old, replacement, 1)
		}
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestGoodFiles(t *testing.T) {
	root := folder(t, "", "", "")
	for _, file := range []string{"environments/here.json", "testbeds/relay.toml"} {
		if problems := File(root, filepath.Join(root, file), file); len(problems) > 0 {
			t.Errorf("%v", problems)
		}
	}
	if env, problems := Environment(root, "here"); len(problems) > 0 || env.Systems["pulsar"].Testbed.Name != "relay" {
		t.Errorf("%+v %v", env, problems)
	}
}

func TestProblems(t *testing.T) {
	const env, bed = "environments/here.json", "testbeds/relay.toml"
	const ready = `ready = { log = "up" }`
	file := func(template, path string) string {
		return fmt.Sprintf("[[file]]\ntemplate = %q\npath = %q\n\n[outputs]", template, path)
	}
	generate := func(lines ...string) string {
		return "[[generate]]\n" + strings.Join(lines, "\n") + "\n\n[outputs]"
	}
	for _, c := range []struct{ file, old, replacement, want string }{
		{env, `"mode": "login"`, `"mode": "oauth"`, `systems.pulsar.auth.mode: "oauth" is not one of none, login, token`},
		{env, `"mode": "login"`, `"mode": "tokn"`, `"tokn" is not one of none, login, token; did you mean token?`},
		{env, `"username": "admin", `, ``, `systems.pulsar.auth.username: missing; add it`},
		{env, `"password_env"`, `"pasword_env"`, `systems.pulsar.auth.pasword_env: unknown key; known here: login_path, mode, password_env, token_env, username; did you mean password_env?`},
		{env, `"PULSAR_PASSWORD"`, `"hunter two"`, `systems.pulsar.auth.password_env: does not match ^[A-Z][A-Z0-9_]*$; give the name of an environment variable, not its value`},
		{env, `"testbed": {`, `"url": "http://127.0.0.1:1", "testbed": {`, `systems.pulsar: give either url or testbed, not both`},
		{env, `"testbed": { "name": "relay", "variables": { "queue": 5, "mode": "bee", "port": 0, "fast": false, "label": "q7" } },`, ``, `systems.pulsar: give either url or testbed`},
		{env, `"testbed": { "name": "relay", "variables": { "queue": 5, "mode": "bee", "port": 0, "fast": false, "label": "q7" } },`, `"url": "http://u:p@h/?q",`, `systems.pulsar.url: "http://u:p@h/?q" does not match`},
		{env, `"systems": {`, `"system": {`, `system: unknown key; known here: description, name, schema, systems; did you mean systems?`},
		{env, `"systems": {`, `"system": {`, `systems: missing; add it`},
		{env, `"p(95)": 20`, `"p(95)": "fast"`, `systems.pulsar.thresholds.ingest.publish.p(95): is a string, must be a number`},
		{env, `"p(95)": 20`, `"p(95)": 0`, `systems.pulsar.thresholds.ingest.publish.p(95): 0 is too small, must be more than 0`},
		{env, `"p(95)": 20`, `"p95": 20`, `did you mean p(95)?`},
		{env, `"name": "here"`, `"name": "there"`, `name: "there" is not the file's name; make it "here" or rename the file`},
		{env, `windtunnel.environment/1`, `windtunnel.environment/2`, `schema: "windtunnel.environment/2" must be "windtunnel.environment/1"`},
		{env, `"name": "relay"`, `"name": "rely"`, `systems.pulsar.testbed.name: there is no testbeds/rely.toml; there are: relay; did you mean relay?`},
		{bed, `system = "pulsar"`, `system = "panel"`, ``},
		{bed, `choices = ["a", "bee"]`, ``, `variables.mode.choices: missing`},
		{bed, `command = ["true"]`, `command = []`, `process[0].command: has 0 entries, needs at least 1`},
		{bed, "PULSAR_URL", "pulsar_url", `outputs.pulsar_url: the name does not match`},
		{bed, ready, "ready = {}", `process[0].ready: give either http, tcp, listens or log`},
		{bed, ready, `ready = { http = "http://h/", log = "x" }`, `process[0].ready: give either http, tcp, listens or log, only one of them`},
		{bed, ready, `ready = { tcp = "127.0.0.1:1", timeout_s = 1 }`, ``},
		{bed, ready, `ready = { http = "https://h/" }`, `process[0].ready.http: "https://h/" does not match ^http:// (Template; an http:// address`},
		{bed, ready, ready + "\ncpus = \"0-1\"", ``},
		{bed, ready, ready + "\ncpus = 1", `process[0].cpus: `},
		{bed, "[outputs]", generate(`name = "keys"`, `command = ["k"]`, `fields = { a = "(.)" }`), ``},
		{bed, "[outputs]", generate(`name = "my-keys"`, `command = ["k"]`, `fields = { a = "(.)" }`), `generate[0].name: "my-keys" does not match`},
		{bed, "[outputs]", generate(`name = "keys"`, `command = []`, `fields = { a = "(.)" }`), `generate[0].command: has 0 entries, needs at least 1`},
		{bed, "[outputs]", generate(`name = "keys"`, `command = ["k"]`, `fields = {}`), `generate[0].fields: is empty, needs at least one of your own`},
		{bed, "[outputs]", generate(`name = "keys"`, `command = ["k"]`, `fields = { a = "." }`), `generate[0].fields.a: "." does not match`},
		{bed, "[outputs]", generate(`name = "keys"`, `command = ["k"]`, `fields = { A = "(.)" }`), `generate.fields.A: the name does not match`},
		{bed, "[outputs]", generate(`name = "keys"`, `command = ["k"]`), `generate[0].fields: missing`},
		{bed, ready, ready + "\nwhen = \"{{ vars.fast }}\"", ``},
		{bed, ready, ready + "\nwhen = true", `process[0].when: is a boolean, must be a string`},
		{bed, "[outputs]", "[[file]]\ntemplate = \"a\"\npath = \"b\"\nwhen = \"true\"\n\n[outputs]", ``},
		{bed, "[outputs]", "[[file]]\ntemplate = \"a\"\npath = \"b\"\nwhen = 1\n\n[outputs]", `file[0].when: `},
		{bed, "[outputs]", "[[requires]]\npath = \"/\"\nmend = \"m\"\nwhen = \"\"\n\n[outputs]", ``},
		{bed, "[outputs]", "[[requires]]\npath = \"/\"\nmend = \"m\"\nwen = \"\"\n\n[outputs]", `requires[0].wen: unknown key; known here: command, make, mend, path, program, when, with; did you mean when?`},
		{bed, "[outputs]", "[versions]\na = [\"a\"]\nb = { command = [\"b\"], when = \"true\" }\n\n[outputs]", ``},
		{bed, "[outputs]", "[versions]\na = \"a\"\n\n[outputs]", `versions.a: is a string, must be an array or an object`},
		{bed, "[outputs]", "[versions]\na = { when = \"true\" }\n\n[outputs]", `versions.a.command: missing`},
		{bed, "[outputs]", "[versions]\na = { command = [], wen = \"true\" }\n\n[outputs]", `versions.a.wen: unknown key; known here: command, when; did you mean when?`},
		{bed, "[outputs]", "[versions]\na = { command = [] }\n\n[outputs]", `versions.a.command: has 0 entries, needs at least 1`},
		{bed, "default = 10\n", "", ``},
		{bed, "[outputs]", file("a", "../b"), "file[0].path: \"../b\" is not allowed here (Write a relative path without `..`)"},
		{bed, "[outputs]", file("a/../b", "b"), `file[0].template: "a/../b" is not allowed here`},
		{bed, "[outputs]", file("a", "/etc/b"), `file[0].path: "/etc/b" is not allowed here`},
		{bed, "[outputs]", file("a..b", "..c/.d"), ``},
		{bed, `type = "port"`, `type = "prt"`, `variables.port.type: "prt" is not one of boolean, integer, string, choice, port, path, cpus; did you mean port?`},
	} {
		t.Run(c.file+" "+c.replacement, func(t *testing.T) {
			root := folder(t, c.file, c.old, c.replacement)
			problems := File(root, filepath.Join(root, c.file), c.file)
			text := strings.Join(problems, "\n")
			switch {
			case c.want == "" && len(problems) > 0:
				t.Errorf("problems: %s", text)
			case !strings.Contains(text, c.want):
				t.Errorf("got:\n%s\nwant: %s", text, c.want)
			}
			for _, p := range problems {
				if !strings.HasPrefix(p, c.file+": ") || strings.Contains(p, "\n") {
					t.Errorf("not a line that starts with the file: %q", p)
				}
			}
		})
	}
}

func TestTestbedOfAnotherSystem(t *testing.T) {
	root := folder(t, "testbeds/relay.toml", `system = "pulsar"`, `system = "panel"`)
	_, problems := Environment(root, "here")
	if len(problems) != 1 || !strings.Contains(problems[0], "testbeds/relay.toml starts the system panel, not pulsar") {
		t.Errorf("%q", problems)
	}
}

func TestExampleIsNamedWithoutExample(t *testing.T) {
	root := folder(t, "", "", "")
	dir := filepath.Join(root, "environments")
	if err := os.Rename(filepath.Join(dir, "here.json"), filepath.Join(dir, "here.example.json")); err != nil {
		t.Fatal(err)
	}
	if problems := File("", filepath.Join(dir, "here.example.json"), "x"); len(problems) > 0 {
		t.Errorf("%q", problems)
	}
	_, problems := Environment(root, "here")
	if len(problems) != 1 || !strings.Contains(problems[0], "copy environments/here.example.json to environments/here.json") {
		t.Errorf("%q", problems)
	}
}

func TestUnknownKind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	for text, want := range map[string]string{
		`{"a": 1}`: `schema: missing or unknown`,
		`[1]`:      `must be a JSON object`,
		`{"schema": "windtunnel.run/1", "id": "x", "splendid": 1}`:                    `unknown field "splendid"`,
		`{"schema": "windtunnel.run/1", "id": "x", "scenarios": [{"cause": "fate"}]}`: `scenarios/0/cause: "fate" must be one of ["testbed" "set_up" "bench"]`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(File("", path, "x.json"), "\n"); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestEnvironmentElsewhere(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	testbed := `schema = "windtunnel.testbed/1"
name = "relay"
system = "pulsar"
title = "x"
[[process]]
name = "relay"
command = ["true"]
[outputs]
`
	if err := os.MkdirAll(filepath.Join(root, "testbeds"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "testbeds", "relay.toml"), []byte(testbed), 0o644); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(elsewhere, "mine.json")
	env := `{"schema":"windtunnel.environment/1","name":"mine","systems":{"pulsar":{"testbed":{"name":"%s"},"auth":{"mode":"none"},"websocket":{"auth":"none"}}}}`
	for name, fine := range map[string]bool{"relay": true, "rely": false} {
		if err := os.WriteFile(path, fmt.Appendf(nil, env, name), 0o644); err != nil {
			t.Fatal(err)
		}
		if problems := File(root, path, path); (len(problems) == 0) != fine {
			t.Errorf("%s: %v", name, problems)
		}
	}
}
