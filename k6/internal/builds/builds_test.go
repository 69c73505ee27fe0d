// SPDX-License-Identifier: AGPL-3.0-only

package builds

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/testsupport/busy"
)

// repository has the branches main and faster; the file proxy contains the branch's name.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, branch := range []string{"main", "faster"} {
		if err := os.WriteFile(filepath.Join(dir, "proxy"), []byte("#!/bin/sh\necho "+branch+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, arguments := range [][]string{{"init", "--quiet"}, {"checkout", "--quiet", "-b", branch}, {"add", "."},
			{"-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "--quiet", "--message", branch}} {
			if out, err := exec.Command("git", append([]string{"-C", dir, "-c", "init.defaultBranch=none"}, arguments...)...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
	}
	return dir
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func asked(t *testing.T, repository, command string) Asked {
	t.Helper()
	return Asked{Root: root(t), Repository: repository, Base: "main", Head: "faster", Command: command,
		Made: map[string]string{"binary": "out/proxy", "source": "", "wheel": ""}, Testbed: "own-proxy"}
}

func quiet(string, ...any) {}

func TestBuildsOfTwoRevisions(t *testing.T) {
	repo := repository(t)
	t.Setenv("TMPDIR", t.TempDir())
	pair, f := Check(asked(t, repo, "echo built by $WHO && mkdir out && cp proxy out/ && (sleep 300 & echo $! > out/left)"))
	if f != nil {
		t.Fatal(f)
	}
	logs := t.TempDir()
	specs, f := pair.Make(context.Background(), []string{"PATH=" + os.Getenv("PATH"), "WHO=me"}, logs, quiet)
	if f != nil {
		t.Fatal(f)
	}
	for i, name := range []string{"base", "head"} {
		program := strings.TrimPrefix(specs[i], "own-proxy:binary=")
		out, err := exec.Command(program).Output()
		if want := []string{"main\n", "faster\n"}[i]; err != nil || string(out) != want {
			t.Errorf("%s is %q (%v), want %q", specs[i], out, err, want)
		}
		log, err := os.ReadFile(filepath.Join(logs, "build-"+name+".log"))
		if err != nil || string(log) != "built by me\n" {
			t.Errorf("log %q %v", log, err)
		}
		left, err := os.ReadFile(filepath.Join(filepath.Dir(program), "left"))
		if err != nil {
			t.Fatal(err)
		}
		if !gone(strings.TrimSpace(string(left))) {
			t.Errorf("what the build of %s left in the background still runs", name)
		}
	}
	made := pair.Builds()
	if made[0].Ref != "main" || made[1].Ref != "faster" || len(made[0].Commit) != 40 || made[0].Commit == made[1].Commit || made[0].Changed == nil || *made[0].Changed {
		t.Errorf("%+v", made)
	}
	if got := made[1].String(); got != fmt.Sprintf("head (faster, %s)", made[1].Commit[:10]) {
		t.Error(got)
	}
	if err := pair.Remove(); err != nil {
		t.Error(err)
	}
	assertNothingLeft(t, repo)
}

// gone waits for the end of a process, which the kernel or its new parent may report late.
func gone(pid string) bool {
	return busy.Until(2*time.Second, func() bool {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

func assertNothingLeft(t *testing.T, repo string) {
	t.Helper()
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	out, err := git(repo, "worktree", "list")
	if err != nil || strings.Count(out, "\n") != 0 {
		t.Errorf("worktrees left: %s %v", out, err)
	}
}

func TestABuildThatFailsIsOneLine(t *testing.T) {
	repo := repository(t)
	for name, c := range map[string]struct {
		command string
		made    map[string]string
		says    string
	}{
		"its command fails": {"echo first; echo 'no rule to build it' >&2; exit 7", nil, "the build of base (main, COMMIT) failed: exit status 7: no rule to build it; its log is LOGS/build-base.log"},
		"of head only":      {"grep -q main proxy && mkdir out && cp proxy out", nil, "the build of head (faster, COMMIT) failed: exit status 1; its log is LOGS/build-head.log"},
		"it makes nothing":  {"true", nil, "the build of base (main, COMMIT) has made no out/proxy (no such file or directory)"},
		"not executable":    {"mkdir out; touch out/proxy", nil, "the out/proxy of base (main, COMMIT) is not executable"},
		"a folder":          {"mkdir -p out/proxy", nil, "the out/proxy of base (main, COMMIT) is no file"},
		"two wheels":        {"mkdir out; touch out/a.whl out/b.whl", map[string]string{"wheel": "out/*.whl"}, "the build of base (main, COMMIT) has left 2 wheels out/*.whl, but one is needed: name it with WHEEL, or make BUILD remove the others"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			a := asked(t, repo, c.command)
			if c.made != nil {
				a.Made, a.Testbed = c.made, "pulsar-relay"
			}
			pair, f := Check(a)
			if f != nil {
				t.Fatal(f)
			}
			logs := t.TempDir()
			_, f = pair.Make(context.Background(), os.Environ(), logs, quiet)
			if f == nil || f.Code != exit.Setup {
				t.Fatalf("%+v", f)
			}
			got := strings.ReplaceAll(f.Message, logs, "LOGS")
			for _, side := range pair.sides {
				got = strings.ReplaceAll(got, side.Commit[:10], "COMMIT")
			}
			if got != c.says {
				t.Errorf("got  %s\nwant %s", got, c.says)
			}
			if err := pair.Remove(); err != nil {
				t.Error(err)
			}
			assertNothingLeft(t, repo)
		})
	}
}

func TestAnInterruptedBuildLeavesNothing(t *testing.T) {
	repo := repository(t)
	t.Setenv("TMPDIR", t.TempDir())
	pair, f := Check(asked(t, repo, "echo $$ > started; sleep 300"))
	if f != nil {
		t.Fatal(f)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			if found, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*/base/started")); len(found) > 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if _, f := pair.Make(ctx, os.Environ(), t.TempDir(), quiet); f == nil || f.Code != exit.Interrupted {
		t.Errorf("%+v", f)
	}
	if err := pair.Remove(); err != nil {
		t.Error(err)
	}
	assertNothingLeft(t, repo)
}

func TestFoldersAreBuiltWhereTheyAre(t *testing.T) {
	base, head := repository(t), repository(t)
	if err := os.WriteFile(filepath.Join(head, "proxy"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	a := asked(t, "", "")
	a.Base, a.Head, a.Made["binary"], a.Testbed = base, head, "proxy", "own-proxy:arguments=--port PORT,cpus=0,1"
	pair := &Pair{asked: a, takes: "binary", path: "proxy", sides: [2]side{{Build: Build{Name: "base", Ref: base}}, {Build: Build{Name: "head", Ref: head}}}}
	for i := range pair.sides {
		if f := pair.find(&pair.sides[i]); f != nil {
			t.Fatal(f)
		}
	}
	specs, f := pair.Make(context.Background(), nil, t.TempDir(), quiet)
	if f != nil || specs[0] != "own-proxy:binary="+base+"/proxy,arguments=--port PORT,cpus=0,1" {
		t.Errorf("%v %+v", specs, f)
	}
	if made := pair.Builds(); *made[0].Changed || !*made[1].Changed || made[1].Ref != filepath.Base(head) {
		t.Errorf("%+v", made)
	}
}

func TestWhatGitCannotTellIsUnknownWithItsReason(t *testing.T) {
	folder := repository(t)
	notOurs := side{Build: Build{Name: "head", Ref: "checkout"}, dir: folder}
	t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1") // git's own switch for its tests of ownership
	notOurs.look()
	if !strings.HasPrefix(notOurs.Unread, "detected dubious ownership in repository at ") || !strings.HasSuffix(notOurs.Unread, "; git config --global --add safe.directory "+folder) {
		t.Errorf("%q", notOurs.Unread)
	}
	if notOurs.Commit != "" || notOurs.Changed != nil || notOurs.String() != "head (checkout, commit unknown)" {
		t.Errorf("%+v", notOurs.Build)
	}
	text, err := json.Marshal(notOurs.Build)
	if err != nil || !strings.Contains(string(text), `"changed":null`) {
		t.Errorf("%s %v", text, err)
	}

	t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "0")
	if err := os.WriteFile(filepath.Join(folder, ".git/index"), []byte("no index"), 0o600); err != nil {
		t.Fatal(err)
	}
	noIndex := side{Build: Build{Name: "head", Ref: "checkout"}, dir: folder}
	noIndex.look()
	if len(noIndex.Commit) != 40 || noIndex.Changed != nil || noIndex.Unread == "" || !strings.HasSuffix(noIndex.String(), ", perhaps changed)") {
		t.Errorf("%+v", noIndex.Build)
	}
}

func TestWhatIsWrongIsSaidBeforeAnythingIsBuilt(t *testing.T) {
	repo := repository(t)
	for want, change := range map[string]func(a *Asked){
		"give both BASE and HEAD":                                             func(a *Asked) { a.Head = "" },
		"TESTBED (--testbed) is not set":                                      func(a *Asked) { a.Testbed = "" },
		`there is no testbed "own-proxi"; there are: `:                        func(a *Asked) { a.Testbed = "own-proxi" },
		"give one of BINARY, SOURCE and WHEEL":                                func(a *Asked) { a.Made["binary"] = "" },
		"give one of BINARY, SOURCE and WHEEL (--binary":                      func(a *Asked) { a.Made["source"] = "." },
		"BINARY=/bin/sh: give a path in the checkouts":                        func(a *Asked) { a.Made["binary"] = "/bin/sh" },
		"BINARY=../x: give a path in the checkouts":                           func(a *Asked) { a.Made["binary"] = "../x" },
		"testbeds/pulsar-relay.toml has no variable binary that takes a path": func(a *Asked) { a.Testbed = "pulsar-relay" },
		"REPOSITORY=/: not a git repository":                                  func(a *Asked) { a.Repository = "/" },
		"HEAD=no-such: " + repo + " has no such revision":                     func(a *Asked) { a.Head = "no-such" },
		"BASE=--help: " + repo + " has no such revision":                      func(a *Asked) { a.Base = "--help" },
		"BASE=main: give the absolute path of a checkout, or REPOSITORY":      func(a *Asked) { a.Repository = "" },
		"HEAD=/no/such: there is no such folder":                              func(a *Asked) { a.Repository, a.Base, a.Head = "", repo, "/no/such" },
	} {
		a := asked(t, repo, "true")
		change(&a)
		if _, f := Check(a); f == nil || f.Code != exit.Usage || !strings.HasPrefix(f.Message, want) || strings.Contains(f.Message, "\n") {
			t.Errorf("got %+v, want %s", f, want)
		}
	}
}

func TestOneCommitOrFolderGivenTwiceIsTold(t *testing.T) {
	repo := repository(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(repo, link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		repository, base, head string
		same                   bool
	}{
		"two branches":        {repo, "main", "faster", false},
		"a branch as HEAD":    {repo, "HEAD", "faster", true},
		"a folder and a link": {"", repo, link, true},
		"two folders":         {"", repo, filepath.Dir(repo), false},
	} {
		a := asked(t, c.repository, "true")
		a.Base, a.Head = c.base, c.head
		pair, f := Check(a)
		if f != nil {
			t.Fatal(f)
		}
		if (pair.Same() != "") != c.same {
			t.Errorf("%s: %q", name, pair.Same())
		}
	}
}

func TestABuildsEnvironment(t *testing.T) {
	got := Environ([]string{"PATH=/bin", "HOME=/h", "MAKEFLAGS=BINARY=x", "BINARY=x", "PROFILE=quick", "PULSAR_PASSWORD=p", "MINE=s", "MINE_A=s", "MINE_OTHER=kept"}, []string{"MINE"})
	if want := []string{"PATH=/bin", "HOME=/h", "MINE_OTHER=kept"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
