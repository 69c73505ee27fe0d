// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/machine"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/testbed"
)

// This file judges one run by kept runs (docs/how-to/baselines.md).

// ofKept are the fields that must be the same in kept runs and in the run that they judge, except parameters. The
// machine's class is checked earlier, field by field.
var ofKept = slices.DeleteFunc(slices.Clone(common), func(f field) bool {
	return !slices.Contains([]string{"scenario", "profile"}, f.name)
})

// KeptRefusal says in one line why kept runs cannot judge a run, with the fields and both values; "" if they can.
func KeptRefusal(kept []Measured, own Measured, beds func(name string) testbed.Testbed) string {
	of := results(kept)
	if own.Result == nil || len(of) == 0 {
		return ""
	}
	for _, r := range of {
		if differ := machine.Of(r).Differences(machine.Of(*own.Result)); len(differ) > 0 {
			return "this machine is of another class than the baseline's: they differ in " + strings.Join(differ, ", ")
		}
	}
	if why := refusal(of, []result.Result{*own.Result}, ofKept, beds); why != "" {
		return why
	}
	return repeated(kept, []Measured{own})
}

// OneThing says in one line why runs cannot be kept together; "" if they have the same scenario, parameters, testbed,
// versions and class of machine.
func OneThing(runs []Measured, beds func(name string) testbed.Testbed) string {
	of := results(runs)
	if len(of) < 2 {
		return ""
	}
	for _, r := range of[1:] {
		if differ := machine.Of(of[0]).Differences(machine.Of(r)); len(differ) > 0 {
			return "the runs are of machines of different classes: they differ in " + strings.Join(differ, ", ")
		}
	}
	return refusal(of, of[:1], ofKept, beds)
}

// excludeSecondary removes secondary metrics from the gate if there are too few kept runs to know their noise, which
// differs from the noise of a speed.
func (c *Comparison) excludeSecondary(kept int) {
	if !c.kept || kept >= difference.FewestKept {
		return
	}
	for i := range c.Metrics {
		if c.Metrics[i].Role == Secondary {
			c.Metrics[i].Role = Shown
			c.noSecondary = fmt.Sprintf("secondary metrics cannot be judged by %s: keep %d or more, or SECONDARY=off judges the primary ones alone",
				format.Plural(kept, "kept run"), difference.FewestKept)
		}
	}
}

// noteKept explains how the interval of one run is computed.
func (c *Comparison) noteKept(kept int) {
	noise := fmt.Sprintf("their noise is known from %s", format.Plural(kept, "kept run"))
	if kept < difference.FewestKept {
		noise = fmt.Sprintf("because fewer than %d runs were kept, the noise of a run is assumed to be %g %%, and secondary metrics cannot be judged", difference.FewestKept, difference.AssumedNoise*100)
	}
	c.Notes = append(c.Notes, fmt.Sprintf("one run is judged by runs of another day: %s; the machine may have changed by %g %%, and each interval is wider by the same amount", noise, tieBound))
}
