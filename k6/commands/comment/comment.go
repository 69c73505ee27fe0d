// SPDX-License-Identifier: AGPL-3.0-only

// Package comment is `k6 x comment`: it writes a pull request's comment about a comparison.
package comment

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/comment"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/contents"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/redact"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

// Options are the command's arguments. Secrets are values that no output may contain. Dir is the current folder,
// Variable the value of WINDTUNNEL_ROOT.
type Options struct {
	Name, Failed, Out string
	Code              int    // with Failed: exit code of the measurement
	Strict            bool   // whether an inconclusive verdict is a failure
	Verdict           string // file for the verdict, the doubt, the conclusion and the code
	Paths             []string
	Secrets           []string
	Dir, Variable     string
}

func New(gs *state.GlobalState) *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "comment RUN",
		Short: "Write the comment of a comparison or a run for a pull request",
		Long: `Reads the folder of a comparison (of one scenario or several) or of a run, or its name in results/,
and writes a comment as Markdown: the verdict, why (foreign text is escaped),
the primary metrics, and folded details; never more than GitHub takes (docs/how-to/gate-pull-requests.md). A comparison
gets a JUnit file with --junit. With --verdict a file gets the verdict, the doubt of an
inconclusive one, and the conclusion that a gate ends by: success, neutral or failure.

Exit codes:
    0  written, whatever the verdict
    2  bad usage, or nothing to report
    4  it cannot be written`,
	}
	var junit string
	cmd.Flags().StringVar(&o.Name, "name", "gate", "name of the gate: a later run with this name replaces the comment")
	cmd.Flags().StringVar(&o.Failed, "failed", "", "a file whose last lines say why nothing could be measured: the comment has them if the folder has no result")
	cmd.Flags().IntVar(&o.Code, "code", exit.Setup, "with --failed: the exit code that it ended with")
	cmd.Flags().BoolVar(&o.Strict, "fail-inconclusive", false, "treat every inconclusive verdict as a failure (default: only if something is missing)")
	cmd.Flags().StringVar(&o.Verdict, "verdict", "", "file to write verdict=, doubt=, conclusion= and code= to, a line each")
	cmd.Flags().StringVar(&o.Out, "out", "", "file to write to (default standard output)")
	cmd.Flags().StringVar(&junit, "junit", "", "file to write JUnit of a comparison to")
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		o.Paths, o.Dir, o.Variable = args, dir, gs.Env["WINDTUNNEL_ROOT"]
		o.Secrets = secrets(gs.Env)
		return Run(gs.Stdout, gs.Stderr, o, junit)
	})
}

// secret lists parts of variable names whose values no output may contain.
var secret = []string{"PASSWORD", "TOKEN", "SECRET", "KEY", "DSN"}

func secrets(env map[string]string) []string {
	var values []string
	for name, value := range env {
		if slices.ContainsFunc(secret, func(part string) bool { return strings.Contains(strings.ToUpper(name), part) }) {
			values = append(values, value)
		}
	}
	return values
}

// Run writes the comment, and a JUnit file if its path is given, and returns the exit code.
func Run(stdout, stderr io.Writer, o Options, junit string) int {
	if len(o.Paths) != 1 {
		return exit.Say(stderr, exit.Usage, "give one folder, such as results/latest; %s", command.See("comment"))
	}
	c, suites, err := o.read(command.Locate(o.Paths, o.Dir, o.Variable)[0])
	if err != nil {
		return exit.Say(stderr, exit.Usage, "%v; %s", err, command.See("comment"))
	}
	if err := o.write(stdout, o.Out, c.Each(redact.New(o.Secrets).Clean).Markdown()); err != nil {
		return exit.Say(stderr, exit.Setup, "cannot write the comment: %v", err)
	}
	if err := o.writeVerdict(stdout, c); err != nil {
		return exit.Say(stderr, exit.Setup, "cannot write the verdict: %v", err)
	}
	if junit != "" && suites != nil {
		if err := o.write(stdout, junit, redact.New(asXML(o.Secrets)).Clean(string(suites))); err != nil {
			return exit.Say(stderr, exit.Setup, "cannot write JUnit: %v", err)
		}
	}
	return exit.Pass
}

// asXML returns the secrets, both unchanged and escaped for XML.
func asXML(secrets []string) []string {
	all := slices.Clone(secrets)
	for _, secret := range secrets {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(secret)) // a strings.Builder never fails
		all = append(all, b.String())
	}
	return all
}

func (o Options) write(stdout io.Writer, path, text string) error {
	if path == "" {
		_, err := io.WriteString(stdout, text)
		return err
	}
	return run.WriteFile(root.Absolute(path, o.Dir), []byte(text))
}

// writeVerdict writes the file that decides the gate, if its path is given.
func (o Options) writeVerdict(stdout io.Writer, c comment.Comment) error {
	if o.Verdict == "" {
		return nil
	}
	return o.write(stdout, o.Verdict, fmt.Sprintf("verdict=%s\ndoubt=%s\nconclusion=%s\ncode=%d\n", c.Verdict, c.Doubt, c.Conclusion(), o.Code))
}

// read makes the comment from the files of a folder, and JUnit from a comparison. If the comment disagrees with the exit
// code of the measurement, there is no verdict.
func (o Options) read(folder string) (c comment.Comment, junit []byte, err error) {
	c, junit, err = o.found(folder)
	if err != nil {
		return c, nil, err
	}
	c.Strict = o.Strict
	if ended := o.ended(); o.Failed != "" && c.Verdict != ended {
		c.Why = fmt.Sprintf("the measurement ended as %s (code %d), and the result says %s: %s", ended, o.Code, c.Verdict, c.Why)
		c.Verdict, c.Doubt, c.Missing = exit.Verdict(exit.Setup), "", false
	}
	return c, junit, nil
}

func (o Options) ended() string { return exit.Verdict(exit.Worst(o.Code)) }

func (o Options) found(folder string) (c comment.Comment, junit []byte, err error) {
	all, err := compare.ReadAll(folder)
	if err != nil {
		return c, nil, err
	}
	if len(all) > 0 {
		junit, err = compare.JUnit(all)
		return compare.Comment(o.Name, all), junit, err
	}
	set, err := report.Load([]string{folder})
	switch {
	case err == nil:
		c = report.Comment(o.Name, set)
		if c.Verdict == exit.Verdict(exit.Inconclusive) {
			c.Doubt = doubtOf(set)
			c.Missing = c.Doubt == compare.IsMissing
		}
		junit, err = report.JUnit(set, report.Options{})
		return c, junit, err
	case o.Failed == "":
		return c, nil, err
	}
	c, err = o.failed()
	return c, nil, err
}

// unmeasured returns the exit code if nothing was measured. It is never the code of a verdict.
func (o Options) unmeasured() int {
	if o.Code == exit.Inconclusive || o.Code == exit.Interrupted {
		return o.Code
	}
	return exit.Setup
}

// unchanged is the doubt if nothing was measured because base and head have the same bytes.
const unchanged = "both sides are the same"

// mostSaid is how many bytes of a log's end are read; mostLines is how many of its lines the comment shows.
const mostSaid, mostLines = 1 << 16, 15

// failed makes a comment from the last lines of a log, if nothing could be measured.
func (o Options) failed() (c comment.Comment, err error) {
	data, err := os.ReadFile(root.Absolute(o.Failed, o.Dir))
	if err != nil {
		return c, fmt.Errorf("--failed %s: %w", o.Failed, exit.Reason(err))
	}
	// Mask before cutting: a secret may have several lines, or lie across the cut.
	text := redact.New(o.Secrets).Clean(string(data))
	text = text[max(0, len(text)-mostSaid):]
	lines := seq.Given(seq.Map(strings.Split(text, "\n"), exit.OneLine))
	c = comment.Comment{Name: o.Name, Verdict: exit.Verdict(o.unmeasured()), Why: "nothing was measured"}
	if n := len(lines); n > 0 {
		c.Why = lines[n-1]
		c.Folds = []comment.Fold{{Title: "what it said last", Lines: lines[max(0, n-mostLines):]}}
	}
	if o.unmeasured() == exit.Inconclusive {
		c.Doubt = unchanged
		if c.Missing = !strings.Contains(c.Why, contents.MeasureSame); c.Missing {
			c.Doubt = compare.IsMissing
		}
	}
	return c, nil
}

// noisy has the kinds of reasons about figures that exist but cannot be trusted. few has the kinds that more samples
// would fix. Each other kind is about a missing measurement.
var (
	noisy = []string{result.Machine, result.Generator, "meter", "dropped", "clock", "limit", "noise", "error", "threshold", "target"}
	few   = []string{"samples", "rounds"}
)

var (
	// turnsWould matches the judge's words for a row of the protocol matrix that more turns would decide.
	turnsWould = regexp.MustCompile(`\babout \d+ turns would decide\b|\bTURNS=\d+`)
	// absent matches the judge's words for a figure that a row or a side lacks, whatever the kind of the reason is.
	absent = regexp.MustCompile(`\b(?:not|never) (?:measured|compared|counted|recorded)\b|\bmissing\b|\bno (?:figure|value|sample)s?\b|\blacks?\b`)
)

// doubtOf says why a run is inconclusive: the gravest doubt of its inconclusive scenarios.
func doubtOf(set report.Set) string {
	var doubts []string
	for _, e := range set.Entries() {
		switch e.Outcome {
		case run.Pass, run.Fail:
		default:
			doubts = append(doubts, doubtOfEntry(e))
		}
	}
	if len(doubts) == 0 {
		return compare.IsMissing
	}
	return compare.Gravest(doubts...)
}

func doubtOfEntry(e report.Entry) string {
	if e.Result == nil || len(e.Reasons) == 0 || unchecked(*e.Result) {
		return compare.IsMissing
	}
	var doubts []string
	for _, r := range e.Reasons {
		texts := r.All
		if len(texts) == 0 {
			texts = []string{r.Text}
		}
		doubts = append(doubts, seq.Map(texts, func(text string) string { return doubtOfReason(r.Kind, text) })...)
	}
	return compare.Gravest(doubts...)
}

func doubtOfReason(kind, text string) string {
	switch {
	case absent.MatchString(text) || !slices.Contains(noisy, kind) && !slices.Contains(few, kind):
		return compare.IsMissing
	case slices.Contains(few, kind) || turnsWould.MatchString(text):
		return compare.TooLittleTime
	}
	return compare.TooNoisy
}

// unchecked reports whether a result has no check of its measurement, or no check that could run.
func unchecked(r result.Result) bool {
	return !slices.ContainsFunc(r.Validity, func(v result.Validity) bool { return v.OK != nil })
}
