// commands prints as JSON the commands that k6-operator runs for the TestRun among the manifests on standard input. The operator's own
// packages make the commands, without a cluster.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/grafana/k6-operator/api/v1alpha1"
	"github.com/grafana/k6-operator/pkg/resources/jobs"
	"github.com/grafana/k6-operator/pkg/types"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// commands are the commands of one TestRun's containers.
type commands struct {
	// Operator is the version of k6-operator.
	Operator    string     `json:"operator"`
	Initializer []string   `json:"initializer"`
	Runners     [][]string `json:"runners"`
	// Starter asks runner-1, runner-2 and so on; the operator gives addresses of Services.
	Starter []string `json:"starter"`
}

func main() {
	if err := write(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(manifests io.Reader, out io.Writer) error {
	run, err := testRun(manifests)
	if err != nil {
		return err
	}
	found, err := commandsOf(run)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(found)
}

// testRun is the first one among manifests. A field that this version of the operator does not know is an error.
func testRun(manifests io.Reader) (*v1alpha1.TestRun, error) {
	for documents := yaml.NewYAMLToJSONDecoder(manifests); ; {
		var document json.RawMessage
		if err := documents.Decode(&document); errors.Is(err, io.EOF) {
			return nil, errors.New("there is no TestRun among the manifests")
		} else if err != nil {
			return nil, err
		}
		var is struct{ Kind string }
		if err := json.Unmarshal(document, &is); err != nil {
			return nil, err
		}
		if is.Kind != "TestRun" {
			continue
		}
		strict := json.NewDecoder(bytes.NewReader(document))
		strict.DisallowUnknownFields()
		run := &v1alpha1.TestRun{}
		return run, strict.Decode(run)
	}
}

// commandsOf takes the steps of the operator's controller from a new TestRun to its start.
func commandsOf(run *v1alpha1.TestRun) (commands, error) {
	v1alpha1.Initialize(run)
	all := commands{Operator: version()}
	initializer, err := jobs.NewInitializerJob(run, types.ParseCLI(run.Spec.Arguments).ArchiveArgs)
	if err != nil {
		return all, err
	}
	all.Initializer = commandOf(initializer)
	var hosts []string
	for number := 1; number <= int(run.Spec.Parallelism); number++ {
		runner, err := jobs.NewRunnerJob(run, number, "")
		if err != nil {
			return all, err
		}
		all.Runners = append(all.Runners, commandOf(runner))
		hosts = append(hosts, fmt.Sprintf("runner-%d", number))
	}
	all.Starter = commandOf(jobs.NewStarterJob(run, hosts))
	return all, nil
}

func commandOf(job *batchv1.Job) []string { return job.Spec.Template.Spec.Containers[0].Command }

// version is the version of k6-operator in go.mod.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/grafana/k6-operator" {
			return module.Version
		}
	}
	return ""
}
