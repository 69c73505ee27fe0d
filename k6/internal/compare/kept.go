// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/machine"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/testbed"
)

// One run that is judged by runs that were kept: docs/how-to/baselines.md.

// ofKept are the fields that must be the same in runs that were kept and in one that is judged by them, parameters apart. The
// class of the machine is told before them, field by field.
var ofKept = slices.DeleteFunc(slices.Clone(common), func(f field) bool {
	return !slices.Contains([]string{"scenario", "profile"}, f.name)
})

// KeptRefusal says why a run cannot be judged by runs that were kept, in one line that names the fields and both values; ""
// where it can.
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

// OneThing says why runs cannot be kept together, in one line; "" where they are of one scenario, parameters, testbed and
// versions, on one class of machine.
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

// secondaryIsShown takes the secondary metrics out of the gate where too few runs were kept to tell their noise, which is not
// that of a speed.
func (c *Comparison) secondaryIsShown(kept int) {
	if !c.kept || kept >= difference.FewestKept {
		return
	}
	for i := range c.Metrics {
		if c.Metrics[i].Role == Secondary {
			c.Metrics[i].Role = Shown
			c.noSecondary = fmt.Sprintf("secondary metrics cannot be judged by %s: keep %d or more, or SECONDARY=off judges the primary ones alone",
				plural(kept, "kept run"), difference.FewestKept)
		}
	}
}

// noteKept says what the interval of one run is made of.
func (c *Comparison) noteKept(kept int) {
	noise := fmt.Sprintf("their noise is told by %s", plural(kept, "kept run"))
	if kept < difference.FewestKept {
		noise = fmt.Sprintf("as fewer than %d runs were kept, runs are taken to differ by %g %%, and secondary metrics cannot be judged", difference.FewestKept, difference.AssumedNoise*100)
	}
	c.Notes = append(c.Notes, fmt.Sprintf("one run is judged by runs of another day: %s; the machine may have changed by %g %%, and each interval is wider by as much", noise, tieBound))
}
