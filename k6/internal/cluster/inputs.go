// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"bytes"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/stream"
	"windtunnel/k6/internal/variables"
)

var (
	cpuPattern    = regexp.MustCompile(`^[1-9][0-9]*m?$`)
	memoryPattern = regexp.MustCompile(`^[1-9][0-9]*(Mi|Gi)$`)
	namePattern   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
)

func (w Where) check() *exit.Fault {
	switch {
	case w.Image == "":
		return exit.BadUsage("IMAGE is not set: give the image that runners are to run, made by docker build --target runner; docs/how-to/kubernetes.md says how")
	case strings.ContainsAny(w.Image, " \t\n\"'"):
		return exit.BadUsage("IMAGE=%s: give an image's name, such as registry.example.net/windtunnel:0.1.0", w.Image)
	case !cpuPattern.MatchString(w.CPU):
		return exit.BadUsage("RUNNER_CPU=%s: give CPUs, such as 1 or 500m", w.CPU)
	case !memoryPattern.MatchString(w.Memory):
		return exit.BadUsage("RUNNER_MEMORY=%s: give memory, such as 512Mi or 1Gi", w.Memory)
	case w.Namespace != "" && !namePattern.MatchString(w.Namespace):
		return exit.BadUsage("NAMESPACE=%s: give the name of a namespace", w.Namespace)
	case w.PullSecret != "" && !namePattern.MatchString(w.PullSecret):
		return exit.BadUsage("PULL_SECRET=%s: give the name of a Secret", w.PullSecret)
	}
	return nil
}

// reachable rejects scenarios that runners in a cluster cannot run: those with probes in the sidecar, and systems that
// are on this machine or start on it.
func reachable(p plan.Plan) *exit.Fault {
	for _, s := range p.Scenarios {
		system := p.Env.Systems[s.System]
		switch {
		case s.Probed:
			return exit.BadUsage("%s cannot run in a cluster: its probes are in the sidecar, beside the proxy; choose scenarios that k6 itself loads with ONLY", s)
		case system.TestbedOf(s.Name) != nil:
			return exit.BadUsage("environments/%s.json has a testbed for %s, which is started on this machine: a cluster needs an environment with its url", p.Env.Name, s.System)
		case len(system.RemoteHosts()) == 0:
			return exit.BadUsage("environments/%s.json: %s at %s is on this machine, which pods cannot reach", p.Env.Name, s.System, system.URL)
		}
	}
	return nil
}

// local are variables that have no meaning in a pod, or that reach the pods in another way.
var local = []string{"AGAIN", "BESIDE", "DASHBOARD", "ENV", "INFLUX_PASSWORD", "INFLUX_TOKEN", "MAY_LEAVE_OUT", "ONLY", "PROFILE", "RESULT_DIR", "RUN_ID", "RUNNERS", "TESTBED", "WINDTUNNEL_ROOT"}

// ofStreaming are the variables for the address of InfluxDB and its user.
var ofStreaming = []string{influx.VariableURL, influx.VariableDatabase, influx.VariableUsername}

// variablesOf returns the caller's variables that a scenario reads, and the variables that bench sets for its k6.
func variablesOf(a plan.Asked, p plan.Plan, runID string, s plan.Scenario, streamed bool) []Variable {
	set := map[string]string{
		"ENV":                "/environment/" + p.Env.Name + ".json",
		"K6_NO_USAGE_REPORT": "true",
		"PROFILE":            a.Profile,
		"RUN_ID":             runID,
	}
	hidden := append(secretNames(p), local...)
	if !streamed {
		hidden = append(hidden, ofStreaming...)
	}
	for _, pair := range a.Environ {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && isRead(name, s) && !slices.Contains(hidden, name) {
			set[name] = value
		}
	}
	return seq.Map(sortedKeys(set), func(name string) Variable { return Variable{Name: name, Value: set[name]} })
}

// isRead reports whether a variable is in the registry and applies to this scenario, not only to other systems or to
// make.
func isRead(name string, s plan.Scenario) bool {
	variable := variables.Find(name)
	return variable != nil && slices.ContainsFunc(variable.Of, func(of string) bool {
		return of == "*" || of == s.System || of == s.String()
	})
}

func secretNames(p plan.Plan) []string {
	return seq.Flat(p.Scenarios, func(s plan.Scenario) []string { return p.Env.Systems[s.System].Secrets() })
}

// secretsOf returns the secrets that are set: of the environment, and of streaming.
func secretsOf(a plan.Asked, p plan.Plan, streamed bool) map[string]string {
	names, set := secretNames(p), map[string]string{}
	if streamed {
		names = append(names, influx.SecretVariables()...)
	}
	for _, name := range names {
		if value := a.Getenv(name); value != "" {
			set[name] = value
		}
	}
	return set
}

// command is the coordinator's command for the i-th scenario. Its runners may join for the
// time that the session waits for their start.
func command(runners int, all []run.Scenario, i int) []string {
	argv := []string{"k6", "x", "coordinate", "--listen", ":" + strconv.Itoa(port), "--runners", strconv.Itoa(runners),
		"--only", all[i].Name(), "--wait", (2 * startsWithin).String()}
	if i < len(all)-1 {
		argv = append(argv, "--more")
	}
	if i == 0 {
		return argv
	}
	before := exit.Worst(seq.Map(all[:i], func(s run.Scenario) int { return run.ExitCode(s.Outcome) })...)
	return append(argv, "--after", strconv.Itoa(before))
}

// clusterVariables are variables about the use of the cluster, which no scenario reads.
var clusterVariables = []string{"IMAGE", "NAMESPACE", "PULL_SECRET", "RUNNER_CPU", "RUNNER_MEMORY"}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// streamed reports whether pods stream to InfluxDB, as INFLUX asks. It rejects an address that pods cannot reach. If
// only a secret is given, InfluxDB is on this machine: then nothing is streamed, and aside says so.
func streamed(getenv func(string) string) (wanted bool, aside string, f *exit.Fault) {
	config, err := influx.FromEnvironment(getenv)
	switch {
	case err != nil:
		return false, "", exit.BadUsage("%v", err)
	case !config.Given && getenv(influx.VariablePassword) != "":
		return false, "not streamed: " + influx.VariableURL + " is not set, and pods would not find an InfluxDB on this machine", nil
	case !config.Given:
		return false, "", nil
	}
	if at, err := url.Parse(config.URL); err == nil && environment.IsLoopback(at.Hostname()) {
		return false, "", exit.BadUsage("%s=%s is on this machine: pods would not find it; give an address that they reach, or unset it", influx.VariableURL, config.URL)
	}
	return true, "", nil
}

// heard records the reports of runners' outputs, from their log in the form of `kubectl logs --prefix`.
func heard(ledger *stream.Stream, of stream.Of, log []byte) {
	for line := range bytes.Lines(log) {
		if _, rest, found := bytes.Cut(line, []byte("] {")); found {
			if report, is := influx.ReadReport("{" + string(rest)); is {
				ledger.Heard(of, report)
			}
		}
	}
}
