// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"bytes"
	"cmp"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"text/template"

	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/stream"
)

// The templates of deploy/, in the order in which their objects are created.
const (
	jobFile     = "job.yaml.tmpl"
	ownedFile   = "owned.yaml.tmpl"
	testRunFile = "testrun.yaml.tmpl"
)

const port = 7950

// Variable is an environment variable of a container, in Kubernetes' notation.
type Variable struct {
	Name      string  `json:"name"`
	Value     string  `json:"value,omitempty"`
	ValueFrom *Source `json:"valueFrom,omitempty"`
}

// Source is the source of a variable's value: a key of a Secret.
type Source struct {
	SecretKeyRef struct {
		Name string `json:"name"`
		Key  string `json:"key"`
	} `json:"secretKeyRef"`
}

// resources requests as much as the limit, so that no neighbour takes resources away during a run.
func resources(cpu, memory string) any {
	amounts := map[string]string{"cpu": cpu, "memory": memory}
	return map[string]any{"requests": amounts, "limits": amounts}
}

// Manifests are the values for the templates of deploy/, for one scenario.
type Manifests struct {
	Name     string // of the TestRun, and prefix of all other names
	Label    string // of all objects of the run
	RunID    string
	Scenario string // SYSTEM/NAME
	Owner    string // uid of the coordinator's Job, "" before the Job exists
	address  string // of the coordinator's Service; "" before the Service exists: then the Service's name, which needs a DNS
	// Suspended holds the Job's pod back until the objects that it reads exist.
	Suspended       bool
	DeadlineSeconds int
	Runners         int
	Image           string
	pullSecret      string
	cpu, memory     string // of a runner
	Variables       []Variable
	Command         []string          // of the coordinator
	Secrets         map[string]string // by variable
	signIn          []string          // the secrets that a script needs even to return its options
	Files           map[string]string // of the environment, by file name
	Streamed        bool              // whether runners stream to InfluxDB; Variables and Secrets have its variables
}

// Coordinator is the name of the Job, the Service and the pods' network policy.
func (m Manifests) Coordinator() string { return m.Name + "-coordinator" }

// Port is the port on which the coordinator listens.
func (m Manifests) Port() int { return port }

// Script is the path of the scenario's script in the image.
func (m Manifests) Script() string { return "/windtunnel/scripts/" + m.Scenario + ".js" }

// PullSecrets are references to the Secret for pulling the image, nil without one.
func (m Manifests) PullSecrets() []map[string]string {
	if m.pullSecret == "" {
		return []map[string]string{}
	}
	return []map[string]string{{"name": m.pullSecret}}
}

// RunnerResources are the resources of one runner.
func (m Manifests) RunnerResources() any { return resources(m.cpu, m.memory) }

// CoordinatorResources are the resources of the coordinator, which judges all records.
func (m Manifests) CoordinatorResources() any { return resources("500m", "2Gi") }

// SmallResources are the resources of a container that only waits.
func (m Manifests) SmallResources() any { return resources("20m", "32Mi") }

// secret is a variable whose value is a key of the run's Secret.
func (m Manifests) secret(name string) Variable {
	var from Source
	from.SecretKeyRef.Name, from.SecretKeyRef.Key = m.Name, name
	return Variable{Name: name, ValueFrom: &from}
}

// CoordinatorVariables are the coordinator's environment.
func (m Manifests) CoordinatorVariables() []Variable { return m.withSecrets(m.Variables) }

// RunnerVariables are a runner's environment.
func (m Manifests) RunnerVariables() []Variable {
	url := "http://" + net.JoinHostPort(cmp.Or(m.address, m.Coordinator()), strconv.Itoa(port))
	// The bench reads the output's reports from the log.
	runner := []Variable{{Name: "COORDINATOR_URL", Value: url}, {Name: "K6_LOG_FORMAT", Value: "json"}}
	if m.Streamed {
		runner = append(runner, Variable{Name: "K6_OUT", Value: stream.Output})
	}
	return m.withSecrets(append(runner, m.Variables...))
}

// InitializerVariables are the variables of k6-operator's initializer, which only reads the script's options. It gets
// placeholders instead of secrets; they give no access.
func (m Manifests) InitializerVariables() []Variable {
	all := append([]Variable{{Name: "K6_INCLUDE_SYSTEM_ENV_VARS", Value: "true"}}, m.Variables...)
	return append(all, seq.Map(m.signIn, func(name string) Variable { return Variable{Name: name, Value: "no secret of the initializer's"} })...)
}

func (m Manifests) withSecrets(variables []Variable) []Variable {
	return slices.Concat(variables, seq.Map(sortedKeys(m.Secrets), m.secret))
}

func (m Manifests) render(root, file string) (string, error) {
	folder := filepath.Join(root, "deploy")
	parsed, err := template.New(file).
		Funcs(template.FuncMap{"json": asJSON}).
		Option("missingkey=error").
		ParseFiles(filepath.Join(folder, "parts.yaml.tmpl"), filepath.Join(folder, file))
	if err != nil {
		return "", fmt.Errorf("deploy/%s cannot be read: %w", file, err)
	}
	var text bytes.Buffer
	if err := parsed.ExecuteTemplate(&text, file, m); err != nil {
		return "", fmt.Errorf("deploy/%s cannot be filled in: %w", file, err)
	}
	return text.String(), nil
}

// asJSON writes a value as JSON, which YAML reads unchanged.
func asJSON(value any) (string, error) {
	text, err := document.JSON(value)
	return string(text), err
}

// Text is all manifests in the form of `kubectl apply`, without the values of secrets.
func (m Manifests) Text(root string) (string, error) {
	hidden := map[string]string{}
	for name := range m.Secrets {
		hidden[name] = "…"
	}
	m.Secrets = hidden
	text := ""
	for _, file := range []string{ownedFile, jobFile, testRunFile} {
		rendered, err := m.render(root, file)
		if err != nil {
			return "", err
		}
		text += "---\n" + rendered
	}
	return text, nil
}
