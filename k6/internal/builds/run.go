// SPDX-License-Identifier: AGPL-3.0-only

package builds

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/variables"
)

// grace is how long an interrupted build may take to end.
const grace = 5 * time.Second

// lastLineMost is how many bytes of a failed build's last line are shown.
const lastLineMost = 300

// build runs the command in a side's checkout. All processes that it started have ended when it returns.
func (p *Pair) build(ctx context.Context, s side, environ []string, log string, say func(format string, args ...any)) *exit.Fault {
	if p.asked.Command == "" {
		return nil
	}
	begun, short := time.Now(), p.shorten(log)
	say("building %s: %s", s.Build, short)
	err := run(ctx, s.dir, environ, log, "sh", "-c", p.asked.Command)
	switch {
	case ctx.Err() != nil:
		return interrupted()
	case err != nil:
		return exit.BadSetup("the build of %s failed: %v; its log is %s", s.Build, err, short)
	}
	say("built %s in %s", s.Build, format.Seconds(time.Since(begun).Seconds()))
	return nil
}

// Install makes the other programs that the testbeds need. `k6 x needs` names their targets. A checkout
// without a Makefile must have them already, and the start reports a missing one.
func (p *Pair) Install(ctx context.Context, targets []string, logs string) *exit.Fault {
	if _, err := os.Stat(filepath.Join(p.asked.Root, "Makefile")); err != nil || len(targets) == 0 {
		return nil
	}
	log := filepath.Join(logs, "make.log")
	err := run(ctx, p.asked.Root, Environ(os.Environ(), nil), log, "make", append([]string{"--silent"}, targets...)...)
	switch {
	case ctx.Err() != nil:
		return interrupted()
	case err != nil:
		return exit.BadSetup("the programs for the testbed cannot be built: %v; the log is %s", err, p.shorten(log))
	}
	return nil
}

// shorten removes the folder of our checkout from a path.
func (p *Pair) shorten(path string) string { return strings.TrimPrefix(path, p.asked.Root+"/") }

func interrupted() *exit.Fault {
	return &exit.Fault{Code: exit.Interrupted, Message: "interrupted while it was built: nothing was measured"}
}

// run runs a program and writes its output to a log. The error says how the program ended, and quotes its last line.
func run(ctx context.Context, dir string, environ []string, log, program string, arguments ...string) error {
	file, err := os.Create(log)
	if err != nil {
		return fmt.Errorf("its log cannot be written: %w", exit.Reason(err))
	}
	defer file.Close()
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, environ, file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	err = cmd.Run()
	if cmd.Process != nil { // a background process of the build would run during the measurement
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		err = errors.New(ended.String())
	}
	if err == nil {
		return nil
	}
	text, _ := os.ReadFile(log)
	if said := []rune(lastLine(string(text))); len(said) > 0 {
		return fmt.Errorf("%w: %s", err, string(said[:min(len(said), lastLineMost)]))
	}
	return err
}

// ofMake are the variables by which make passes settings to the makes that it starts: a build's own make would take our
// variables as its own.
var ofMake = []string{"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "GNUMAKEFLAGS"}

// Environ is the environment of a build: the caller's environment without secrets, without the variables of make, and
// without Windtunnel's variables. The project may use the same names for other things.
func Environ(environ, secrets []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		secret := slices.ContainsFunc(secrets, func(own string) bool {
			return name == own || strings.HasPrefix(name, own+"_") && len(name) == len(own)+2
		})
		return secret || slices.Contains(ofMake, name) || variables.Find(name) != nil
	})
}
