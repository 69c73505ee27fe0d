// SPDX-License-Identifier: AGPL-3.0-only

// Package cluster runs scenarios on Kubernetes: it renders the manifests of deploy/, k6-operator starts the runners, and
// a coordinator synchronizes them. The package then fetches the results and removes all objects that it made. See
// docs/how-to/kubernetes.md.
package cluster

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/children"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/redact"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/stream"
	"windtunnel/k6/internal/terminal"
	"windtunnel/k6/internal/variables"
)

// Options say what to run and where. All paths are absolute. Signals carries SIGINT and SIGTERM.
type Options struct {
	bench.Options
	Where
}

// Where says how to use the cluster.
type Where struct {
	Image      string // of runners and coordinator, built by the stage `runner` of docker/Dockerfile.
	PullSecret string // name of the Secret to pull the image with, "" without one.
	Namespace  string // "" for the namespace of the context.
	CPU        string // of a runner, in Kubernetes' notation: 1 or 500m.
	Memory     string // of a runner, such as 1Gi.
}

// Run runs scenarios in the cluster of kubectl's context and returns the exit code of the whole run.
func Run(o Options) int {
	screen := terminal.New(o.Stdout, o.Stderr, o.TTY, o.Color, o.Width)
	c, f := prepare(o, screen)
	if f != nil {
		return screen.Refuse(f)
	}
	interrupts, done := watch(o.Signals, screen.Error)
	defer done()
	c.interrupts = interrupts
	if f := c.kubectl.ready(c.stop); f != nil {
		return screen.Refuse(f)
	}
	if f := c.accepted(); f != nil {
		return screen.Refuse(f)
	}
	if c.dir, f = c.record.Begin(o.Root, false); f != nil {
		return screen.Refuse(f)
	}
	return c.run()
}

// Print prints the objects that Run would create, without the values of secrets, and returns the exit code.
func Print(o Options) int {
	screen := terminal.New(o.Stdout, o.Stderr, false, false, 0)
	c, f := prepare(o, screen)
	if f != nil {
		return screen.Refuse(f)
	}
	for i := range c.plan.Scenarios {
		text, err := c.manifests(i).Text(o.Root)
		if err != nil {
			return screen.Refuse(exit.BadUsage("%v", err))
		}
		fmt.Fprint(o.Stdout, text)
	}
	return exit.Pass
}

type cluster struct {
	Options
	kubectl kubectl
	screen  *terminal.Screen
	plan    plan.Plan
	files   map[string]string // of the environment.
	secrets map[string]string // by variable.
	record  run.Run
	dir     string         // results/RUN.
	ledger  *stream.Stream // the runners' reports about streaming.
	aside   string         // a line about streaming, "" without one.
	interrupts
}

// prepare checks all that can be checked without a cluster.
func prepare(o Options, screen *terminal.Screen) (*cluster, *exit.Fault) {
	if f := o.Where.check(); f != nil {
		return nil, f
	}
	o.Environ = variables.Without(o.Environ, clusterVariables...)
	p, f := plan.Make(o.Asked)
	if f != nil {
		return nil, f
	}
	if f := reachable(p); f != nil {
		return nil, f
	}
	isStreamed, aside, f := streamed(o.Getenv)
	if f != nil {
		return nil, f
	}
	if o.RunID, f = run.ID(o.RunID, o.Profile, time.Now()); f != nil {
		return nil, f
	}
	c := &cluster{Options: o, screen: screen, plan: p, kubectl: kubectl{namespace: o.Namespace, environ: o.Environ}}
	if c.files, f = environmentFile(o.Root, o.Env); f != nil {
		return nil, f
	}
	entries := seq.Map(p.Scenarios, func(s plan.Scenario) run.Scenario { return s.Entry(run.Planned) })
	c.record = run.New(o.RunID, o.Profile, p.Env.Name, entries...)
	c.record.Streamed = isStreamed
	c.aside, c.secrets = aside, secretsOf(o.Asked, p, isStreamed)
	c.ledger = stream.Listen(func(line string) { screen.Error("%s", line) }, redact.New(slices.Collect(maps.Values(c.secrets)), p.Public()...).Clean)
	return c, nil
}

// label marks all objects of a run: a run's id may be longer than Kubernetes allows.
func (c *cluster) label() string {
	sum := sha256.Sum256([]byte(c.RunID))
	return hex.EncodeToString(sum[:5])
}

func (c *cluster) manifests(i int) Manifests {
	scenario := c.plan.Scenarios[i]
	secrets := maps.Clone(c.secrets)
	secrets["COORDINATOR_TOKEN"] = rand.Text()
	return Manifests{
		Name:            fmt.Sprintf("windtunnel-%s-%d", c.label(), i+1),
		Label:           c.label(),
		RunID:           c.RunID,
		Scenario:        scenario.String(),
		DeadlineSeconds: int((24 * time.Hour).Seconds()),
		Runners:         c.Runners,
		Image:           c.Image,
		pullSecret:      c.PullSecret,
		cpu:             c.CPU,
		memory:          c.Memory,
		Variables:       variablesOf(c.Asked, c.plan, c.RunID, scenario, c.record.Streamed),
		Command:         command(c.Runners, c.record.Scenarios, i),
		Secrets:         secrets,
		signIn:          c.plan.Env.Systems[scenario.System].Auth.Secrets(),
		Files:           c.files,
		Streamed:        c.record.Streamed,
	}
}

// accepted asks the cluster whether it accepts the first scenario's manifests.
func (c *cluster) accepted() *exit.Fault {
	first := c.manifests(0)
	for _, file := range []string{jobFile, ownedFile, testRunFile} {
		text, err := first.render(c.Root, file)
		if err != nil {
			return exit.BadUsage("%v", err)
		}
		if f := c.kubectl.accepts(c.stop, text); f != nil {
			return f
		}
	}
	return nil
}

func (c *cluster) run() int {
	c.screen.Line("run %s: %s, environment %s, %d scenarios on %d runners", c.RunID, c.Profile, c.plan.Env.Name,
		len(c.plan.Scenarios), c.Runners)
	if c.record.Streamed {
		c.screen.Line("streaming to %s", c.Getenv(influx.VariableURL))
	} else if c.aside != "" {
		c.screen.Line("%s", c.aside)
	}
	code := exit.Pass
	for i := range c.plan.Scenarios {
		entry := &c.record.Scenarios[i]
		if c.any() {
			entry.Outcome, entry.Message = run.Skipped, "interrupted before its turn"
		} else {
			code = exit.Worst(code, c.scenario(i, entry))
		}
		if err := c.record.Write(c.dir); err != nil {
			c.screen.Error("cannot write results/%s/run.json: %v", c.RunID, exit.Reason(err))
			code = exit.Worst(code, exit.Setup)
		}
	}
	return c.finish(code)
}

// scenario runs one scenario and returns an exit code for errors outside the scenario's outcome.
func (c *cluster) scenario(i int, entry *run.Scenario) int {
	c.screen.Line("%s", entry.Name())
	m := c.manifests(i)
	redactor := redact.New(slices.Collect(maps.Values(m.Secrets)), c.plan.Public()...)
	s := &session{
		kubectl: c.kubectl, Manifests: m, root: c.Root, results: c.dir,
		logs:   filepath.Join(run.Logs(c.dir), c.plan.Scenarios[i].FileStem()),
		say:    c.screen.Progress,
		redact: redactor.Clean,
		heard: func(log []byte) {
			heard(c.ledger, stream.Of{TestID: c.RunID, Profile: c.Profile, System: entry.System, Scenario: entry.Scenario}, log)
		},
		interrupts: c.interrupts,
	}
	f := s.run()
	c.outcome(entry, f)
	if f := s.remove(); f != nil {
		return c.screen.Refuse(f)
	}
	return exit.Pass
}

func (c *cluster) finish(code int) int {
	if c.any() {
		code = exit.Interrupted
	}
	return bench.Finish(c.screen, c.dir, &c.record, code, false, func(string) []string {
		return c.ledger.Close(stream.Of{TestID: c.RunID, Profile: c.Profile})
	})
}

// environmentFile returns the environment as a file for the pods, by its name in the pods.
func environmentFile(root, env string) (map[string]string, *exit.Fault) {
	path := env
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, "environments", env+".json")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, exit.BadUsage("%s cannot be read: %v", path, exit.Reason(err))
	}
	return map[string]string{strings.TrimSuffix(filepath.Base(path), ".json") + ".json": string(text)}, nil
}

func interrupted() *exit.Fault {
	return &exit.Fault{Code: exit.Interrupted, Message: "interrupted; there is no result"}
}

// outcome enters the end of a scenario: from the coordinator's record of the run if it was fetched, or else why there is
// no record.
func (c *cluster) outcome(entry *run.Scenario, f *exit.Fault) {
	if f == nil {
		recorded, err := run.Read(c.dir)
		switch {
		case err != nil:
			f = exit.BadSetup("the coordinator's run.json cannot be read: %v", err)
		case recorded.ID != c.RunID || len(recorded.Scenarios) != 1 || recorded.Scenarios[0].Name() != entry.Name():
			f = exit.BadSetup("the coordinator's run.json is of another run")
		default:
			*entry = recorded.Scenarios[0]
			c.record.Notes = append(c.record.Notes, recorded.Notes...)
			return
		}
	}
	entry.Outcome, entry.Message, entry.Cause = run.SetupFailed, f.Message, run.OfBench
	if f.Code == exit.Interrupted {
		entry.Outcome, entry.Cause = run.Interrupted, ""
	}
}

// interrupts is the effect of signals: the first signal stops the load and keeps the data so far, the second ends the
// run at once.
type interrupts struct {
	stop, hurry context.Context
}

// watch follows signals until done is called.
func watch(signals <-chan os.Signal, say func(format string, args ...any)) (i interrupts, done func()) {
	stop, stopped := context.WithCancel(context.Background())
	hurry, hurried := context.WithCancel(context.Background())
	over := children.OnSignal(signals, func(count int) {
		if count > 1 {
			hurried()
			return
		}
		say("interrupted: the runners clean up, and their results so far are judged; interrupt again to remove everything at once")
		stopped()
	})
	return interrupts{stop, hurry}, func() {
		over()
		stopped()
		hurried()
	}
}

func (i interrupts) any() bool { return i.stop.Err() != nil }
