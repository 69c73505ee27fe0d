// SPDX-License-Identifier: AGPL-3.0-only

// Package target is `k6 x target`: what `make TARGET` measures, once everything is built.
package target

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/target"
)

func New(gs *state.GlobalState) *cobra.Command {
	var needs, show bool
	var rootFlag string
	cmd := &cobra.Command{
		Use:   "target TARGET",
		Short: "Run a measuring make target without building",
		Long: `Does what make does for bench, SYSTEM, SYSTEM-SCENARIO, SYSTEM/SCENARIO, compare, panel-compare, protocols-compare
and protocols-interop, once everything is built. The variables that make was given are read from the environment.`,
		Example: "pulsar-ingest\n--show compare",
	}
	cmd.Flags().BoolVar(&needs, "needs", false, "print only the targets of make that have to be built before, one a line")
	cmd.Flags().BoolVar(&show, "show", false, "print only the commands that would run")
	cmd.Flags().StringVar(&rootFlag, "root", "", "the checkout (default: upward from here)")
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		if len(args) != 1 {
			return exit.Say(gs.Stderr, exit.Usage, "give one target, such as pulsar-ingest; %s", command.See(cmd.Name()))
		}
		base, err := root.Find(rootFlag, gs.Env["WINDTUNNEL_ROOT"], dir)
		if err != nil {
			return exit.Say(gs.Stderr, exit.Usage, "%v", err)
		}
		plan, wrong := target.Of(args[0], base, gs.Env)
		if wrong == nil && !needs {
			wrong = plan.Refused
		}
		if wrong != nil {
			return wrong.Say(gs.Stderr)
		}
		self, err := os.Executable()
		if err != nil {
			return exit.Say(gs.Stderr, exit.Setup, "%v", err)
		}
		r := runner{gs: gs, program: []string{self, "x"}}
		switch {
		case show:
			for _, call := range plan.Calls {
				fmt.Fprintln(gs.Stdout, line(call))
			}
			return exit.Pass
		case needs:
			return r.needs(plan, gs.Stdout)
		}
		return r.all(plan.Calls)
	})
}

// line is a call as one would type it.
func line(call target.Call) string {
	words := seq.Map(slices.Sorted(maps.Keys(call.Set)), func(name string) string { return name + "=" + quoted(call.Set[name]) })
	words = append(words, "bin/k6", "x")
	return strings.Join(append(words, seq.Map(call.Args, quoted)...), " ")
}

func quoted(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/.,:=+") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

type runner struct {
	gs      *state.GlobalState
	program []string
}

func (r runner) needs(plan target.Plan, out io.Writer) int {
	code := exit.Pass
	if len(plan.Needs.Args) > 0 {
		code = r.call(plan.Needs)
	}
	for _, file := range plan.Built {
		if code == exit.Pass {
			fmt.Fprintln(out, file)
		}
	}
	return code
}

// become replaces this process by a program: tests put another function here.
var become = syscall.Exec

// all makes calls one after the other, until one is interrupted, and returns the code of the last that failed. This process becomes a
// single call, so that nothing is between make and the command.
func (r runner) all(calls []target.Call) int {
	if len(calls) == 1 {
		words := append(slices.Clone(r.program), calls[0].Args...)
		return exit.Say(r.gs.Stderr, exit.Setup, "%v", become(words[0], words, environ(r.gs.Env, calls[0])))
	}
	code := exit.Pass
	for _, call := range calls {
		if ended := r.call(call); ended != exit.Pass {
			code = ended
		}
		if code == exit.Interrupted {
			break
		}
	}
	return code
}

// call runs a command of this program with its output. A signal for this process is for the command: it cleans up, and says how it ended.
func (r runner) call(call target.Call) int {
	words := append(slices.Clone(r.program), call.Args...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = environ(r.gs.Env, call)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 4)
	r.gs.SignalNotify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer r.gs.SignalStop(signals)
	if err := cmd.Start(); err != nil {
		return exit.Say(r.gs.Stderr, exit.Setup, "%v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case signal := <-signals:
			// Ctrl-C reaches the command from the terminal already: a second one would stop it at once.
			if signal != syscall.SIGINT {
				_ = cmd.Process.Signal(signal)
			}
		case err := <-ended:
			return codeOf(err)
		}
	}
}

func codeOf(err error) int {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return exit.Pass
	case errors.As(err, &ended) && ended.ExitCode() >= 0:
		return ended.ExitCode()
	}
	return exit.Setup
}

// environ is the caller's environment with what a call changes.
func environ(env map[string]string, call target.Call) []string {
	all := maps.Clone(env)
	for _, name := range call.Unset {
		delete(all, name)
	}
	maps.Copy(all, call.Set)
	return command.Environ(all)
}
