// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/contents"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/protocolrows"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/sides"
	"windtunnel/k6/internal/variables"
)

// The scenario of the protocol matrix, and the testbed of its rows.
const matrix, matrixTestbed = "protocols/matrix", "protocols"

// Rows compares two existing programs by rows of the protocol matrix and returns the exit code. programs are the
// absolute paths of baseline and candidate. The scenario takes the turns.
func Rows(o Options, b bench.Options, programs [2]string) int {
	f := knownRows(b.Root, o.Protocol)
	if f == nil {
		f = samePrograms(b, programs)
	}
	if f != nil {
		return f.Say(b.Stderr)
	}
	return bench.Run(ofRows(o, b, programs))
}

// ofRows returns the options of the bench that measures the rows. Each program is started as the one that its variable names, and the
// baseline as the candidate unless BASELINE says otherwise: both are builds of one program.
func ofRows(o Options, b bench.Options, programs [2]string) bench.Options {
	candidate := b.Getenv(sides.Candidate)
	own := map[string]string{
		"PROTOCOL":      o.Protocol,
		sides.Baseline:  sides.With(b.Root, programs[0], b.Getenv(sides.Baseline), candidate),
		sides.Candidate: sides.With(b.Root, programs[1], candidate),
	}
	if o.Minutes != "" {
		own["MINUTES"] = o.Minutes
	}
	b.Environ = variables.Without(b.Environ, slices.Collect(maps.Keys(own))...)
	for name, value := range own {
		b.Environ = append(b.Environ, name+"="+value)
	}
	b.Only = matrix
	return b
}

// knownRows rejects an unknown row before anything is built.
func knownRows(root, list string) *exit.Fault {
	of, err := protocolrows.Read(filepath.Join(root, "testbeds", matrixTestbed))
	if err != nil {
		return exit.BadUsage("%v", err)
	}
	names := seq.Map(of.Rows, func(row protocolrows.Row) string { return row.Name })
	for _, wanted := range compare.List(list) {
		prefix, many := strings.CutSuffix(wanted, "*")
		if !slices.ContainsFunc(names, func(name string) bool { return name == wanted || many && strings.HasPrefix(name, prefix) }) {
			return exit.BadUsage("PROTOCOL=%s: no such row%s; there are %s", wanted, closest.Hint(wanted, names), strings.Join(names, ", "))
		}
	}
	return nil
}

// samePrograms rejects two sides with the same bytes, unless the user allows it: otherwise a failed build would pass.
func samePrograms(b bench.Options, programs [2]string) *exit.Fault {
	if b.Same {
		return nil
	}
	var sides [2]contents.Side
	for i, path := range programs {
		ref, bed, err := check.TestbedSpec(b.Root, matrixTestbed+":binary="+path)
		if err != nil {
			return exit.BadUsage("%v", err)
		}
		if sides[i], err = contents.Of(b.Root, ref, bed); err != nil {
			return exit.BadUsage("%v", err)
		}
	}
	if contents.Same(sides[0], sides[1]) {
		return &exit.Fault{Code: exit.Inconclusive, Message: fmt.Sprintf("both sides are the same (%s): nothing is measured; "+
			"was a build forgotten, or one path given twice? %s", sides[1].Contents, contents.MeasureSame)}
	}
	return nil
}
