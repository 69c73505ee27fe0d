// SPDX-License-Identifier: AGPL-3.0-only

package door

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.k6.io/k6/cmd/state"
	"go.k6.io/k6/ext"
	"gopkg.in/yaml.v3"

	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/variables"
)

func TestMain(m *testing.M) {
	command.CalledByDoor()
	os.Exit(m.Run())
}

// checkout is the one that this test is in.
func checkout(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	base, err := root.Find("", "", dir)
	if err != nil {
		t.Fatal(err)
	}
	return base
}

// called runs the front door, and returns its output and its exit code.
func called(t *testing.T, env map[string]string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	gs := state.NewGlobalState(context.Background())
	var out, line bytes.Buffer
	gs.Stdout.Writer, gs.Stderr.Writer = &out, &line
	gs.CmdArgs = append([]string{Name}, args...)
	gs.Env = env
	gs.OSExit = func(c int) { code = c }
	if err := Root(gs).Execute(); err != nil {
		line.WriteString(err.Error() + "\n")
		code = exit.Usage
	}
	return out.String(), line.String(), code
}

func TestTheNameSaysWhichProgramItIs(t *testing.T) {
	for path, want := range map[string]bool{"windtunnel": true, "/a/bin/windtunnel": true, "bin/k6": false, "/windtunnel/bin/k6": false} {
		if Is(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
	for _, c := range []struct {
		args string
		want bool
	}{{"run script.js", true}, {"-q run script.js", true}, {"x bench", true}, {"--version", true}, {"bench run", false}, {"--help", false}, {"", false}} {
		if OfK6(strings.Fields(c.args)) != c.want {
			t.Errorf("%q: %v", c.args, !c.want)
		}
	}
}

func TestTheFrontDoorHasAllCommandsOfOurs(t *testing.T) {
	stdout, _, code := called(t, map[string]string{})
	if code != exit.Pass {
		t.Fatalf("code %d", code)
	}
	all := []string{"probe", "link", "testbed", "run", "completion"}
	for name := range ext.Get(ext.SubcommandExtension) {
		all = append(all, name)
	}
	if len(all) < 15 {
		t.Fatalf("%v", all)
	}
	for _, name := range all {
		if !strings.Contains(stdout, "\n  "+name+" ") {
			t.Errorf("help does not list %s", name)
		}
		help, _, code := called(t, map[string]string{}, "help", name)
		if code != exit.Pass || !strings.Contains(help, "windtunnel "+name) {
			t.Errorf("help of %s: code %d, %s", name, code, help)
		}
	}
}

func TestMistakesAreToldInOneLineThatNamesTheHelp(t *testing.T) {
	for args, want := range map[string]string{
		"bnch":                      `windtunnel has no command "bnch"; is it bench?; see windtunnel --help`,
		"--frobnicate":              "unknown flag: --frobnicate; see windtunnel --help",
		"bench --rnus 3":            "unknown flag: --rnus; is it --runs?; see windtunnel bench --help",
		"bench pulsar":              `unexpected argument "pulsar"; to choose scenarios give --only; see windtunnel bench --help`,
		"compare --a x":             "give both --a and --b; see windtunnel compare --help",
		"panel-compare --a pymysql": "give both --a and --b; see windtunnel compare --help",
		"completion tcsh":           "give bash, zsh or fish; see windtunnel completion --help",
	} {
		_, stderr, code := called(t, map[string]string{}, strings.Fields(args)...)
		if code != exit.Usage || !strings.HasPrefix(stderr, want+"\n") {
			t.Errorf("%s: code %d, %q", args, code, stderr)
		}
	}
}

func TestTheSidecarsCommandsAreHandedOn(t *testing.T) {
	base := t.TempDir()
	for _, folder := range []string{"scripts", "environments", "bin"} {
		if err := os.Mkdir(filepath.Join(base, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"WINDTUNNEL_ROOT": base, "RATE": "5"}
	if _, stderr, code := called(t, env, "link", "list"); code != exit.Setup || !strings.Contains(stderr, "run `make bin/sidecar`") {
		t.Errorf("code %d, %s", code, stderr)
	}
	path := filepath.Join(base, "bin/sidecar")
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	defer func(was func(string, []string, []string) error) { become = was }(become)
	var ran []string
	become = func(program string, args, environ []string) error {
		ran = append([]string{program}, args[1:]...)
		if !slices.Contains(environ, "RATE=5") {
			t.Errorf("%v", environ)
		}
		return errors.New("stopped here")
	}
	called(t, env, "testbed", "run", "sing-box", "--var", "queue=5", "--", "sh", "-c", "true")
	if want := []string{path, "testbed", "run", "sing-box", "--var", "queue=5", "--", "sh", "-c", "true"}; !slices.Equal(ran, want) {
		t.Errorf("%v", ran)
	}
	called(t, env, "probe", "--help")
	if want := []string{path, "probe", "--help"}; !slices.Equal(ran, want) {
		t.Errorf("%v", ran)
	}
}

func TestShellsCompleteCommandsFlagsAndValues(t *testing.T) {
	for shell, part := range map[string]string{"bash": "complete -o default -F __start_windtunnel windtunnel", "zsh": "compdef _windtunnel windtunnel", "fish": "complete -c windtunnel"} {
		if stdout, stderr, code := called(t, map[string]string{}, "completion", shell); code != exit.Pass || !strings.Contains(stdout, part) {
			t.Errorf("%s: code %d, %s", shell, code, stderr)
		}
	}
	env := map[string]string{"WINDTUNNEL_ROOT": checkout(t)}
	for args, want := range map[string]string{
		"pan":                 "panel-compare\t",
		"bench --payload-":    "--payload-bytes\t",
		"bench --profile ":    "quick",
		"bench --placement ":  "split",
		"compare --scenario ": "dataplane/socks-tcp",
		"bench --env ":        "local",
		"compare --testbed ":  "sing-box-pair",
		"testbed ":            "calibrate",
		"testbed show ":       "xray-pair",
		"link check ":         "satellite",
	} {
		stdout, _, _ := called(t, env, append([]string{"__complete"}, strings.Split(args, " ")...)...)
		has := slices.ContainsFunc(strings.Split(stdout, "\n"), func(line string) bool {
			return line == want || strings.HasSuffix(want, "\t") && strings.HasPrefix(line, want)
		})
		if has == (args == "testbed ") { // calibrate is of links alone
			t.Errorf("%q: %s", args, stdout)
		}
	}
}

func TestABenchHasAFlagForEachVariableOfScenariosButSecrets(t *testing.T) {
	gs := state.NewGlobalState(context.Background())
	gs.Env = map[string]string{"RATE": "7"}
	gs.CmdArgs = []string{Name}
	bench, _, err := Root(gs).Find([]string{"bench"})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range variables.All {
		flag := bench.Flags().Lookup(variables.FlagName(v.Name))
		switch {
		case v.Unit == variables.SecretValue && flag != nil:
			t.Errorf("%s is a secret, and --%s shows it to other users", v.Name, flag.Name)
		case v.Unit != variables.SecretValue && flag == nil && !slices.Equal(v.Of, []string{"make"}) && v.Name != "WINDTUNNEL_ROOT":
			t.Errorf("%s is no flag", v.Name)
		}
	}
	if err := bench.ParseFlags([]string{"--rate", "500", "--confirm-remote", "example.org"}); err != nil {
		t.Fatal(err)
	}
	if gs.Env["RATE"] != "500" || gs.Env["CONFIRM_REMOTE"] != "example.org" {
		t.Errorf("%v", gs.Env)
	}
}

// Inputs that are not the gate's own are flags of compare, and so variables of the registry.
func TestInputsOfTheActionAreOfTheRegistry(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(checkout(t), "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{} `yaml:"inputs"`
	}
	if err := yaml.Unmarshal(text, &action); err != nil || len(action.Inputs) < 10 {
		t.Fatal(action.Inputs, err)
	}
	for name := range action.Inputs {
		own := name == "name" || name == "on-inconclusive"
		known := slices.ContainsFunc(variables.All, func(v variables.Variable) bool { return variables.FlagName(v.Name) == name })
		if !own && !known {
			t.Errorf("%s is no variable of the registry", name)
		}
	}
}

func TestThePageIsWhatTheCommandsMakeIt(t *testing.T) {
	gs := state.NewGlobalState(context.Background())
	gs.Env, gs.CmdArgs = map[string]string{}, []string{Name}
	page := Markdown(Root(gs))
	for _, part := range []string{"\n## windtunnel doctor\n", "| `--worse-by` | `WORSE_BY` |", "\n    windtunnel compare results/before -- results/after\n"} {
		if !strings.Contains(page, part) {
			t.Errorf("%q is not in the page", part)
		}
	}
	there, err := os.ReadFile(filepath.Join(checkout(t), Page))
	if err != nil || string(there) != page {
		t.Errorf("%s: run `make variables` (%v)", Page, err)
	}
}
