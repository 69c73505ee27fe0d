// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	judging "windtunnel/k6/commands/baseline"
	"windtunnel/k6/internal/baseline"
	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/machine"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/variables"
)

// variable names the baseline; of scenarios with a candidate it may also be the program that the candidate is compared with.
const variable = "BASELINE"

// isKept tells a baseline that was kept from a program: a program is given by the absolute path of a file.
func isKept(name string) bool {
	if name == "" || !filepath.IsAbs(name) {
		return name != ""
	}
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// againstBaseline runs the bench and judges its run by a baseline, too. What can be refused is refused before anything starts.
func againstBaseline(stdout, stderr io.Writer, o bench.Options, name string) int {
	kept, err := baseline.Find(o.Root, name)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitcode.Usage
	}
	if why := kept.Excluded(machine.Here()); why != "" {
		fmt.Fprintln(stderr, why)
		return exitcode.Usage
	}
	worseBy, line := worseBy(o.Environ)
	if line != "" {
		fmt.Fprintln(stderr, line)
		return exitcode.Usage
	}
	// To a script it would be a program.
	o.Environ = slices.DeleteFunc(o.Environ, func(pair string) bool { return strings.HasPrefix(pair, variable+"=") })
	id, f := run.ID(o.RunID, o.Profile, time.Now())
	if f != nil {
		fmt.Fprintln(stderr, f.Message)
		return f.Code
	}
	o.RunID = id
	folder := filepath.Join(o.Root, "results", o.RunID)
	_, there := os.Stat(folder)
	code := bench.Run(o)
	if _, err := run.Read(folder); err != nil || there == nil || code == exitcode.Interrupted {
		return code
	}
	judged := judging.Judge(stdout, stderr, o.Root, kept, folder, filepath.Join(folder, "baseline"), worseBy)
	if judged == exitcode.Usage {
		return judged
	}
	return exitcode.Worst(code, judged)
}

// worseBy is the bound in percent, or what is wrong with WORSE_BY.
func worseBy(environ []string) (percent float64, line string) {
	text := ""
	for _, pair := range environ {
		if value, ok := strings.CutPrefix(pair, "WORSE_BY="); ok {
			text = value
		}
	}
	if text == "" {
		return baseline.WorseBy, ""
	}
	if line := variables.Wrong("WORSE_BY", text, false); line != "" {
		return 0, line
	}
	return variables.Number("WORSE_BY", text), ""
}
