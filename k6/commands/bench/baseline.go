// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"io"
	"os"
	"path/filepath"
	"time"

	judging "windtunnel/k6/commands/baseline"
	"windtunnel/k6/internal/baseline"
	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/machine"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/variables"
)

// variable names the baseline. For a scenario with a candidate the variable may also be the baseline program.
const variable = "BASELINE"

// isKept reports whether the name is a kept baseline. A program is given by the absolute path of a file.
func isKept(name string) bool {
	if name == "" || !filepath.IsAbs(name) {
		return name != ""
	}
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// againstBaseline runs the bench and also judges its run by a baseline. It reports invalid input before anything starts.
func againstBaseline(stdout, stderr io.Writer, o bench.Options, name string) int {
	kept, err := baseline.Find(o.Root, name)
	if err != nil {
		return exit.Say(stderr, exit.Usage, "%v", err)
	}
	if why := kept.Excluded(machine.Here()); why != "" {
		return exit.Say(stderr, exit.Usage, "%v", why)
	}
	given, line := variables.GivenTo("baseline", o.Environ)
	if line != "" {
		return exit.Say(stderr, exit.Usage, "%v", line)
	}
	// A script would read the variable as the path of a program.
	o.Environ = variables.Without(o.Environ, variable)
	id, f := run.ID(o.RunID, o.Profile, time.Now())
	if f != nil {
		return f.Say(stderr)
	}
	o.RunID = id
	folder := filepath.Join(o.Root, "results", o.RunID)
	_, there := os.Stat(folder)
	code := bench.Run(o)
	if _, err := run.Read(folder); err != nil || there == nil || code == exit.Interrupted {
		return code
	}
	judged := judging.Judge(stdout, stderr, o.Root, kept, folder, filepath.Join(folder, "baseline"), compare.BoundsOf(given, baseline.WorseBy))
	if judged == exit.Usage {
		return judged
	}
	return exit.Worst(code, judged)
}
