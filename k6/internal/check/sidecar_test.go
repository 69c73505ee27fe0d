// SPDX-License-Identifier: AGPL-3.0-only

package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const bed = "testbeds/relay.toml"

// withSidecar gives a checkout a bin/sidecar.
func withSidecar(t *testing.T, root, script string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "bin/sidecar"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestTheSidecarChecksToo(t *testing.T) {
	for script, want := range map[string]string{
		`test "$*" = "testbed show --root $PWD -- relay"`:                         "",
		"echo 'sidecar: testbeds/relay.toml: name: differs; mend it' >&2; exit 2": bed + ": name: differs; mend it",
		"echo 'sidecar: unknown testbed' >&2; exit 2":                             bed + ": unknown testbed",
		"exit 9": bed + ": bin/sidecar cannot check it: exit status 9; run `make build`",
	} {
		root := folder(t, "", "", "")
		t.Chdir(root)
		withSidecar(t, root, script)
		if got := strings.Join(File(root, filepath.Join(root, bed), bed), "\n"); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
	// A testbed outside the checkout is checked only against the schema.
	root, other := folder(t, "", "", ""), folder(t, "", "", "")
	withSidecar(t, root, "exit 9")
	for _, where := range []string{"", other} {
		if problems := File(where, filepath.Join(root, bed), bed); len(problems) > 0 {
			t.Errorf("%q: %v", where, problems)
		}
	}
}

// withRealSidecar gives a checkout the real sidecar, or skips the test without it.
func withRealSidecar(t *testing.T, root string) {
	t.Helper()
	program, err := filepath.Abs("../../../bin/sidecar")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("bin/sidecar is not built")
	}
	if err := os.Mkdir(filepath.Join(root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(root, "bin/sidecar")); err != nil {
		t.Fatal(err)
	}
}

// TestTheSidecarAloneChecksVariables needs bin/sidecar.
func TestTheSidecarAloneChecksVariables(t *testing.T) {
	const env, variables = "environments/here.json", "environments/here.json: systems.pulsar.testbed.variables."
	for _, c := range []struct{ old, replacement, want string }{
		{`"queue": 5`, `"queue": 100`, ""},
		{`"queue": 5`, `"queue": 500`, variables + "queue: is 500, and must be an integer from 1 to 100"},
		{`"queue": 5`, `"queue": 5.5`, variables + "queue: is 5.5, and must be an integer from 1 to 100"},
		{`"queue": 5`, `"queue": "5"`, variables + "queue: is a string, and must be an integer from 1 to 100"},
		{`"queue": 5`, `"queu": 5`, variables + "queu: testbeds/relay.toml declares no such variable; it declares: fast, label, mode, port, queue; did you mean queue?"},
		{`"mode": "bee"`, `"mode": "be"`, variables + "mode: is be, and must be one of a, bee; did you mean bee?"},
		{`"port": 0`, `"port": 70000`, variables + "port: is 70000, and must be a port from 1 to 65535, or 0 for any free one"},
		{`"fast": false`, `"fast": "no"`, variables + "fast: is a string, and must be true or false"},
		{`"q7"`, `"q77"`, variables + "label: is q77, and must be a string that matches [a-z][0-9]"},
	} {
		root := folder(t, env, c.old, c.replacement)
		withRealSidecar(t, root)
		if got := strings.Join(File(root, filepath.Join(root, env), env), "\n"); got != c.want {
			t.Errorf("%s: %q, want %q", c.replacement, got, c.want)
		}
	}
	root := folder(t, bed, "default = 10\n", "")
	withRealSidecar(t, root)
	path := filepath.Join(root, env)
	text := strings.Replace(goodEnvironment, `"queue": 5, `, "", 1)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	want := variables + "queue: is missing, and testbeds/relay.toml has no default for it: give an integer from 1 to 100"
	if got := strings.Join(File(root, path, env), "\n"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWhatTheRealSidecarRefuses needs bin/sidecar: errors beyond the schema are reported once.
func TestWhatTheRealSidecarRefuses(t *testing.T) {
	for _, c := range []struct{ old, replacement, want string }{
		{`name = "relay"` + "\nsystem", `name = "rely"` + "\nsystem", bed + ": name: "},
		{`default = 10`, `default = 1000`, bed + ": variables.queue.default: "},
		{`pattern = "[a-z][0-9]"`, `pattern = "[a-z"`, bed + ": variables.label.pattern: "},
		{`log = "up"`, `log = "(up"`, bed + ": process[0].ready.log: "},
		{"[outputs]", "[[generate]]\nname = \"k\"\ncommand = [\"k\"]\nfields = { a = \"()(\" }\n\n[outputs]", bed + ": generate[0].fields.a: "},
		{`ready = {`, "cpus = \"{{ generated.k.a }}\"\nready = {", bed + ": process[0].cpus: "},
		{`ready = {`, "when = \"{{ vars.nothing }}\"\nready = {", bed + ": process[0].when: "},
		{"[outputs]", "[[process]]\nname = \"relay\"\ncommand = [\"true\"]\n\n[outputs]", bed + ": process[1].name: "},
		{`"http://127.0.0.1:1"`, `"{{ vars.nothing }}"`, bed + ": outputs.PULSAR_URL: "},
	} {
		root := folder(t, bed, c.old, c.replacement)
		withRealSidecar(t, root)
		problems := File(root, filepath.Join(root, bed), bed)
		if len(problems) != 1 || !strings.HasPrefix(problems[0], c.want) || strings.Contains(problems[0], "\n") {
			t.Errorf("%s: %q", c.replacement, problems)
		}
	}
}
