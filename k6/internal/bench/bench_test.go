// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/redact"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/run"
)

// output is a writer that a test can read while the bench writes.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// trial is a bench in a copy of testdata/root.
type trial struct {
	Options
	out, err *output
	events   string
	signals  chan os.Signal
}

func newTrial(t *testing.T, env, only string, environ ...string) *trial {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("testdata/root")); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(root, "bin/sidecar")); err != nil {
		t.Fatal(err)
	}
	tr := &trial{out: &output{}, err: &output{}, events: filepath.Join(root, "events"), signals: make(chan os.Signal, 4)}
	tr.Options = Options{RunID: "test", K6: program, Stdout: tr.out, Stderr: tr.err, Signals: tr.signals,
		Asked: plan.Asked{Root: root, Profile: "smoke", Env: env, Only: only, Sidecar: program, Environ: append([]string{"BESIDE=1", "PATH=" + os.Getenv("PATH"), "HOME=" + root, "FAKE_EVENTS=" + tr.events}, environ...)}}
	for _, pair := range environ { // the sidecar inherits the bench's own environment
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	t.Setenv("FAKE_EVENTS", tr.events)
	return tr
}

func (tr *trial) record(t *testing.T) run.Run {
	t.Helper()
	r, err := run.Read(filepath.Join(tr.Root, "results", "test"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// outcomes is `name outcome` of each scenario, comma-separated.
func (tr *trial) outcomes(t *testing.T) string {
	t.Helper()
	var parts []string
	for _, s := range tr.record(t).Scenarios {
		what := s.Scenario + " " + s.Outcome
		if s.Cause != "" {
			what += ": " + string(s.Cause)
		}
		parts = append(parts, what)
	}
	return strings.Join(parts, ", ")
}

func (tr *trial) text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(tr.Root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func want(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("no %q in:\n%s", p, text)
		}
	}
}

func TestPass(t *testing.T) {
	tr := newTrial(t, "local", "pulsar/passes")
	if code := Run(tr.Options); code != exit.Pass {
		t.Fatalf("code %d\n%s%s", code, tr.out, tr.err)
	}
	want(t, tr.out.String(), "[1/1] pulsar/passes  pass", "VERDICT", "verdict: pass", "report: results/test/report.html")
	want(t, tr.text(t, "events"), `start pulsar-relay {"variables":{"port":0}}`, "delete i1", "end")
	for _, name := range []string{"report.md", "report.html", "report.xml", "pulsar-passes.json", "run.json", "logs/pulsar-passes.k6.log"} {
		tr.text(t, "results/latest/"+name)
	}
	r := tr.record(t)
	if r.End == nil || r.ExitCode == nil || *r.ExitCode != 0 || r.Scenarios[0].Result != "pulsar-passes.json" {
		t.Errorf("record %+v", r)
	}
	want(t, tr.text(t, "results/test/pulsar-passes.json"), `"target":"http://127.0.0.1:9"`)
	if got := tr.err.String(); got != "" {
		t.Errorf("stderr: %s", got)
	}
}

func TestOutcomesAndCodes(t *testing.T) {
	for _, c := range []struct {
		only, outcomes string
		code           int
		says           []string
	}{
		{"pulsar/passes,pulsar/fails", "passes pass, fails fail", exit.Fail,
			[]string{"pulsar/fails: fail: fixture says fail", "verdict: fail"}},
		{"pulsar/doubtful,pulsar/passes", "passes pass, doubtful inconclusive", exit.Inconclusive,
			[]string{"verdict: inconclusive"}},
		{"pulsar/refused,pulsar/passes", "passes pass, refused set-up failed: set_up", exit.Setup,
			[]string{"pulsar/refused: set-up failed: nothing listens at http://127.0.0.1:1; start the relay\n", "verdict: set-up failed\n"}},
		{"pulsar/refused,pulsar/fails", "fails fail, refused set-up failed: set_up", exit.Setup, []string{"verdict: set-up failed\n"}},
		{"pulsar/fails,pulsar/doubtful", "doubtful inconclusive, fails fail", exit.Fail, nil},
		{"pulsar/forgets", "forgets set-up failed: bench", exit.Setup,
			[]string{"k6 ended with exit code 0 and wrote no pulsar-forgets.json"}},
		{"pulsar/garbles", "garbles set-up failed: bench", exit.Setup,
			[]string{`verdict: "splendid" is not one of pass, fail, inconclusive`}},
	} {
		t.Run(c.only, func(t *testing.T) {
			tr := newTrial(t, "loop", c.only)
			if code := Run(tr.Options); code != c.code {
				t.Errorf("code %d, want %d\n%s%s", code, c.code, tr.out, tr.err)
			}
			if got := tr.outcomes(t); got != c.outcomes {
				t.Errorf("outcomes %q, want %q", got, c.outcomes)
			}
			want(t, tr.out.String(), c.says...)
			set, err := report.Load([]string{filepath.Join(tr.Root, "results/test")})
			if err != nil || set.ExitCode() != c.code {
				t.Errorf("the report ends with %d, %v; the bench with %d", set.ExitCode(), err, c.code)
			}
		})
	}
}

// TestMeasuresNothingWithoutTheSidecar runs against a URL, which needs no testbed.
func TestMeasuresNothingWithoutTheSidecar(t *testing.T) {
	for mode, says := range map[string]string{
		"dead":    "CPU and memory are not measured: the sidecar ended (exit status 4): cannot read testbeds\n",
		"missing": "CPU and memory are not measured: bin/sidecar is missing; run `make build`\n",
	} {
		tr := newTrial(t, "loop", "pulsar/passes", "FAKE_SIDECAR="+mode)
		if mode == "missing" {
			withoutSidecar(t, tr)
		}
		if code := Run(tr.Options); code != exit.Pass {
			t.Errorf("%s: code %d\n%s%s", mode, code, tr.out, tr.err)
		}
		if got := tr.err.String(); got != says {
			t.Errorf("%s: %q", mode, got)
		}
	}
}

// withoutSidecar removes the fake sidecar.
func withoutSidecar(t *testing.T, tr *trial) {
	t.Helper()
	tr.Sidecar = filepath.Join(tr.Root, "bin/sidecar")
	if err := os.Remove(tr.Sidecar); err != nil {
		t.Fatal(err)
	}
}

func TestPreflight(t *testing.T) {
	for name, c := range map[string]struct {
		env, only string
		environ   []string
		change    func(*testing.T, *trial)
		code      int
		says      string
	}{
		"profile":     {"local", "", nil, func(_ *testing.T, tr *trial) { tr.Profile = "quik" }, exit.Usage, "unknown profile quik; did you mean quick?; there are: smoke, quick, full"},
		"system":      {"local", "pulsa", nil, nil, exit.Usage, "unknown system pulsa; did you mean pulsar?"},
		"make target": {"local", "pulsar-pases", nil, nil, exit.Usage, "unknown system pulsar-pases; did you mean pulsar-passes?"},
		"scenario":    {"local", "pulsar/pases", nil, nil, exit.Usage, "unknown scenario pulsar/pases; did you mean pulsar/passes?"},
		"environment": {"locl", "pulsar", nil, nil, exit.Usage, "no environment locl; there are: local, loop, remote"},
		"path":        {"../local", "pulsar", nil, nil, exit.Usage, "must be a name"},
		"malformed": {"loop", "pulsar", nil, func(t *testing.T, tr *trial) {
			write(t, tr, "environments/loop.json", "{\n  \"name\": ,\n}")
		}, exit.Usage, "environments/loop.json: line 2, column 11: bad JSON"},
		"no such system":     {"local", "panel", nil, nil, exit.Usage, "environments/local.json has no system panel: 1 of its scenarios left out (it has: pulsar)\nnothing is left to run"},
		"remote":             {"remote", "pulsar/passes", []string{"RELAY_TOKEN=t0ken"}, nil, exit.Usage, "set CONFIRM_REMOTE=relay.example.org\n"},
		"wrong confirmation": {"remote", "pulsar/passes", []string{"RELAY_TOKEN=t0ken", "CONFIRM_REMOTE=example.org"}, nil, exit.Usage, "set CONFIRM_REMOTE=relay.example.org\n"},
		"secret":             {"remote", "pulsar/passes", []string{"CONFIRM_REMOTE=relay.example.org"}, nil, exit.Usage, "RELAY_TOKEN is not set"},
		"url":                {"local", "pulsar/passes", []string{"PULSAR_URL=http://127.0.0.1:9"}, nil, exit.Usage, "PULSAR_URL is set, but the run starts testbeds/"},
		"influx":             {"local", "pulsar/passes", []string{"INFLUX=http://me:geheim@127.0.0.1:8086"}, nil, exit.Usage, "INFLUX holds a login; give it by INFLUX_USERNAME and INFLUX_PASSWORD, or by INFLUX_TOKEN\n"},
		"sidecar":            {"local", "pulsar/passes", nil, withoutSidecar, exit.Setup, "bin/sidecar is missing; run `make build`"},
		"results": {"loop", "pulsar/passes", nil, func(t *testing.T, tr *trial) {
			write(t, tr, "results", "a file where a folder should be")
		}, exit.Setup, "cannot make results/: not a directory"},
		"run id": {"loop", "pulsar/passes", nil, func(_ *testing.T, tr *trial) { tr.RunID = "../x" }, exit.Usage, `run id "../x"`},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, c.env, c.only, c.environ...)
			if c.change != nil {
				c.change(t, tr)
			}
			if code := Run(tr.Options); code != c.code {
				t.Errorf("code %d, want %d", code, c.code)
			}
			want(t, tr.err.String(), c.says)
			if info, err := os.Stat(filepath.Join(tr.Root, "results")); err == nil && info.IsDir() {
				t.Error("results/ was made")
			}
		})
	}
}

func write(t *testing.T, tr *trial, path, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(tr.Root, path), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLeavesOutSystemsOfOtherEnvironments(t *testing.T) {
	tr := newTrial(t, "loop", "panel,pulsar/passes")
	if code := Run(tr.Options); code != exit.Pass {
		t.Fatalf("code %d\n%s%s", code, tr.out, tr.err)
	}
	want(t, tr.err.String(), "environments/loop.json has no system panel")
}

func TestSidecarFaults(t *testing.T) {
	for mode, c := range map[string]struct{ says, cause string }{
		"refuse": {"testbed pulsar-relay: port 8081 is taken by pid 7 (nginx); stop it or set the variable port", "testbed"},
		"vanish": {"testbed pulsar-relay: the sidecar ended (exit status 3): out of luck", "bench"},
		"dead":   {"the sidecar ended (exit status 4): cannot read testbeds", "bench"},
	} {
		t.Run(mode, func(t *testing.T) {
			tr := newTrial(t, "local", "pulsar/passes,pulsar/doubtful", "FAKE_SIDECAR="+mode)
			if code := Run(tr.Options); code != exit.Setup {
				t.Errorf("code %d\n%s%s", code, tr.out, tr.err)
			}
			if got := tr.outcomes(t); got != "passes set-up failed: "+c.cause+", doubtful skipped" {
				t.Errorf("outcomes %q", got)
			}
			want(t, tr.out.String(), "pulsar/passes: set-up failed: "+c.says)
		})
	}
}

// TestPasswordThatIsAnOrdinaryWord has a password that is a key and an enum value of every result.
func TestPasswordThatIsAnOrdinaryWord(t *testing.T) {
	for _, word := range []string{"requests", "pass"} {
		tr := newTrial(t, "local", "pulsar/leaks", "FAKE_SECRET="+word)
		if code := Run(tr.Options); code != exit.Pass {
			t.Fatalf("code %d\n%s%s", code, tr.out, tr.err)
		}
		want(t, tr.text(t, "results/test/pulsar-leaks.json"), `"requests":1`, `"verdict":"pass"`, `"notes":["note [secret]"]`)
	}
}

func TestSecretsStayOut(t *testing.T) {
	tr := newTrial(t, "local", "pulsar/leaks")
	if code := Run(tr.Options); code != exit.Pass {
		t.Fatalf("code %d\n%s%s", code, tr.out, tr.err)
	}
	log := tr.text(t, "results/test/logs/pulsar-leaks.k6.log")
	want(t, log, "the password is [secret]", "encoded [secret]", "token=[secret]", "the sidecar's is [secret]")
	if strings.Contains(log, "got-by-login") {
		t.Errorf("the log holds a token:\n%s", log)
	}
	want(t, tr.text(t, "results/test/pulsar-leaks.json"), "note [secret]")
	err := filepath.WalkDir(filepath.Join(tr.Root, "results"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if clean := redact.New([]string{fakeSecret, fakeToken}).Text(string(data)); clean != string(data) {
			t.Errorf("%s holds the secret where [secret] stands here:\n%s", path, clean)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if screen := tr.out.String() + tr.err.String(); strings.Contains(screen, fakeSecret) || strings.Contains(screen, fakeToken) {
		t.Error("the screen shows a secret")
	}
}
