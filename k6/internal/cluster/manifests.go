// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"text/template"

	"windtunnel/k6/internal/stream"
)

// The files of deploy/ that become manifests, in the order in which they are created.
const (
	jobFile     = "job.yaml.tmpl"
	ownedFile   = "owned.yaml.tmpl"
	testRunFile = "testrun.yaml.tmpl"
)

// port is where the coordinator listens.
const port = 7950

// Variable is one of a container's environment, in Kubernetes' own form.
type Variable struct {
	Name      string  `json:"name"`
	Value     string  `json:"value,omitempty"`
	ValueFrom *Source `json:"valueFrom,omitempty"`
}

// Source is where a variable's value comes from: a key of a Secret.
type Source struct {
	SecretKeyRef struct {
		Name string `json:"name"`
		Key  string `json:"key"`
	} `json:"secretKeyRef"`
}

// resources asks for as much as a container may have, so that no neighbour takes it away in mid-run.
func resources(cpu, memory string) any {
	amounts := map[string]string{"cpu": cpu, "memory": memory}
	return map[string]any{"requests": amounts, "limits": amounts}
}

// Manifests are what deploy/ is filled in with, for one scenario.
type Manifests struct {
	Name     string // of the TestRun, and what the names of all else begin with
	Label    string // of all objects of the run
	RunID    string
	Scenario string // SYSTEM/NAME
	Owner    string // the uid of the coordinator's Job, "" before it is there
	address  string // of the coordinator's Service, "" before it is there: then its name, which takes a DNS
	// Suspended holds the Job's pod back until what it reads is there.
	Suspended       bool
	DeadlineSeconds int
	Runners         int
	Image           string
	pullSecret      string
	cpu, memory     string // of a runner
	Variables       []Variable
	Command         []string          // the coordinator's
	Secrets         map[string]string // by variable
	signIn          []string          // those of them without which no script tells its options
	Files           map[string]string // the environment's, by file name
	Streamed        bool              // to InfluxDB, whose variables are among Variables and Secrets
}

// Coordinator is the name of the Job, the Service and the pods' policy.
func (m Manifests) Coordinator() string { return m.Name + "-coordinator" }

// Port is where the coordinator listens.
func (m Manifests) Port() int { return port }

// Script is the path of the scenario's script in the image.
func (m Manifests) Script() string { return "/windtunnel/scripts/" + m.Scenario + ".js" }

// PullSecrets are references to the Secret that an image is pulled with, none where it takes none.
func (m Manifests) PullSecrets() []map[string]string {
	if m.pullSecret == "" {
		return []map[string]string{}
	}
	return []map[string]string{{"name": m.pullSecret}}
}

// RunnerResources are one runner's.
func (m Manifests) RunnerResources() any { return resources(m.cpu, m.memory) }

// CoordinatorResources are the coordinator's: it judges all records.
func (m Manifests) CoordinatorResources() any { return resources("500m", "2Gi") }

// SmallResources are for a container that waits.
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
	// What the output says in its log is read there.
	own := []Variable{{Name: "COORDINATOR_URL", Value: url}, {Name: "K6_LOG_FORMAT", Value: "json"}}
	if m.Streamed {
		own = append(own, Variable{Name: "K6_OUT", Value: stream.Output})
	}
	return m.withSecrets(append(own, m.Variables...))
}

// InitializerVariables are those of k6-operator's initializer, which only looks at the script's options. It has no secrets: what
// stands in their place signs nobody in.
func (m Manifests) InitializerVariables() []Variable {
	all := append([]Variable{{Name: "K6_INCLUDE_SYSTEM_ENV_VARS", Value: "true"}}, m.Variables...)
	for _, name := range m.signIn {
		all = append(all, Variable{Name: name, Value: "no secret of the initializer's"})
	}
	return all
}

func (m Manifests) withSecrets(variables []Variable) []Variable {
	all := append([]Variable{}, variables...)
	for _, name := range sortedKeys(m.Secrets) {
		all = append(all, m.secret(name))
	}
	return all
}

// render fills in a file of deploy/.
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

// asJSON writes a value so that YAML reads it as it is.
func asJSON(value any) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return string(bytes.TrimSpace(text.Bytes())), err
}

// Text is all manifests as they would be given to `kubectl apply`, without the values of secrets.
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
