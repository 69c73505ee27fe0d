// SPDX-License-Identifier: AGPL-3.0-only

package target

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

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/target"
)

// called is a runner whose program writes its variable BED and its arguments into a file, and ends with the code that is the first.
func called(t *testing.T) (r runner, lines func() []string) {
	t.Helper()
	folder := t.TempDir()
	program, log := filepath.Join(folder, "program"), filepath.Join(folder, "log")
	if err := os.WriteFile(program, []byte("echo \"$BED-$GONE-$*\" >>'"+log+"'\nexit $1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	gs := state.NewGlobalState(context.Background())
	gs.Env = map[string]string{"PATH": os.Getenv("PATH"), "BED": "given", "GONE": "x"}
	return runner{gs: gs, program: []string{"/bin/sh", program}}, func() []string {
		text, _ := os.ReadFile(log) // a file that is missing has no lines
		return strings.Fields(string(text))
	}
}

func calls(codes ...string) (all []target.Call) {
	for _, code := range codes {
		all = append(all, target.Call{Args: []string{code}, Set: map[string]string{"BED": "bed" + code}, Unset: []string{"GONE"}})
	}
	return all
}

func TestCallsAreMadeInTurnUntilOneIsInterrupted(t *testing.T) {
	for _, c := range []struct {
		codes []string
		want  int
		lines []string
	}{
		{[]string{"0", "0"}, exit.Pass, []string{"bed0--0", "bed0--0"}},
		{[]string{"99", "0"}, exit.Fail, []string{"bed99--99", "bed0--0"}},
		{[]string{"3", "4"}, exit.Setup, []string{"bed3--3", "bed4--4"}},
		{[]string{"0", "130", "0"}, exit.Interrupted, []string{"bed0--0", "bed130--130"}},
	} {
		r, lines := called(t)
		if code := r.all(calls(c.codes...)); code != c.want || !slices.Equal(lines(), c.lines) {
			t.Errorf("%v: code %d, %v", c.codes, code, lines())
		}
	}
}

func TestTheProcessBecomesASingleCall(t *testing.T) {
	defer func(was func(string, []string, []string) error) { become = was }(become)
	var ran []string
	become = func(_ string, words, environ []string) error {
		ran = append(words[2:], environ...)
		return errors.New("stopped here")
	}
	r, _ := called(t)
	r.gs.Stderr.Writer = &bytes.Buffer{}
	r.all(calls("3"))
	if !slices.Contains(ran, "3") || !slices.Contains(ran, "BED=bed3") || slices.Contains(ran, "GONE=x") {
		t.Errorf("%v", ran)
	}
}

func TestNeedsArePrintedUntilTheyFail(t *testing.T) {
	for code, want := range map[string]string{"0": "bin/xray\n", "2": ""} {
		r, _ := called(t)
		var out bytes.Buffer
		r.needs(target.Plan{Needs: calls(code)[0], Built: []string{"bin/xray"}}, &out)
		if out.String() != want {
			t.Errorf("%s: %q", code, &out)
		}
	}
}

func TestACallIsShownAsOneTypesIt(t *testing.T) {
	call := target.Call{Args: []string{"compare", "--a", "", "--build", "make 'x'"}, Set: map[string]string{"ONLY": "pulsar/ingest"}}
	if got := line(call); got != `ONLY=pulsar/ingest bin/k6 x compare --a '' --build 'make '\''x'\'''` {
		t.Error(got)
	}
}
