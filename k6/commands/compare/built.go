// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/builds"
	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/children"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/contents"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

// Built builds base and head, compares them and returns the exit code. It removes the worktrees before it returns.
func Built(o Options, b bench.Options) int {
	o.Build.Root = b.Root
	if o.Protocol != "" {
		if f := knownRows(b.Root, o.Protocol); f != nil {
			return f.Say(b.Stderr)
		}
		o.Scenario, o.Build.Testbed = matrix, matrixTestbed
	}
	pair, f := builds.Check(o.Build)
	if f != nil {
		return f.Say(b.Stderr)
	}
	if same := pair.Same(); same != "" && !b.Same {
		return exit.Say(b.Stderr, exit.Inconclusive, "BASE and HEAD are the same (%s): nothing is built or measured; %s", same, contents.MeasureSame)
	}
	scenarios, f := plan.Named(b.Root, compare.List(o.Scenario))
	if f != nil {
		return f.Say(b.Stderr)
	}
	// A build at the same time as a measurement would disturb the measurement.
	held, f := b.Reserve("compare", func(format string, args ...any) { fmt.Fprintf(b.Stderr, format+"\n", args...) })
	if f != nil {
		return f.Say(b.Stderr)
	}
	defer held.Release()
	defer func() {
		if err := pair.Remove(); err != nil {
			fmt.Fprintln(b.Stderr, err)
		}
	}()
	specs, f := buildBoth(pair, b, run.Logs(b.Dir()))
	if f != nil {
		return f.Say(b.Stderr)
	}
	if o.Protocol != "" {
		if f := samePrograms(b, pair.Paths()); f != nil {
			return f.Say(b.Stderr)
		}
		b, specs = ofRows(o, b, pair.Paths()), [2]string{}
	}
	if f := install(pair, b, scenarios, specs, run.Logs(b.Dir())); f != nil {
		return f.Say(b.Stderr)
	}
	if o.Protocol != "" {
		return bench.Run(b)
	}
	o.A, o.B = specs[0], specs[1]
	made := pair.Builds()
	return Measured(o, b, [2]*builds.Build{&made[0], &made[1]})
}

func buildBoth(pair *builds.Pair, b bench.Options, logs string) (specs [2]string, f *exit.Fault) {
	env, problems := check.Environment(b.Root, b.Env)
	if len(problems) > 0 {
		return specs, exit.BadUsage("%s", problems[0])
	}
	interrupts, ctx, stop := children.Watch(b.Signals, func(string) {})
	defer stop()
	say := func(format string, args ...any) { fmt.Fprintf(b.Stdout, format+"\n", args...) }
	if specs, f = pair.Make(ctx, builds.Environ(b.Environ, env.Secrets()), logs, say); f == nil && interrupts.Any() {
		f = unmeasured
	}
	return specs, f
}

var unmeasured = &exit.Fault{Code: exit.Interrupted, Message: "interrupted: nothing was measured"}

// install makes the other programs that the scenarios need with these testbeds; "" is the environment's testbed.
func install(pair *builds.Pair, b bench.Options, scenarios []plan.Scenario, specs [2]string, logs string) *exit.Fault {
	interrupts, ctx, stop := children.Watch(b.Signals, func(string) {})
	defer stop()
	names := seq.Map(scenarios, plan.Scenario.String)
	targets, f := plan.Needs(b.Asked, names, specs[:])
	if f != nil {
		return f
	}
	if f := pair.Install(ctx, targets, logs); f != nil {
		return f
	}
	if interrupts.Any() {
		return unmeasured
	}
	return nil
}
