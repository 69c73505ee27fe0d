// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const root = "../../.."

func example() Manifests {
	return Manifests{
		Name: "windtunnel-0a-1", Label: "0a", RunID: `odd "id": {}`, Scenario: "pulsar/concurrent",
		Runners: 3, Image: "localhost/windtunnel:test", cpu: "500m", memory: "1Gi", DeadlineSeconds: 60,
		Variables: []Variable{{Name: "PROFILE", Value: "smoke"}, {Name: "ODD", Value: "a: \"b\" # {{ }} \n- c"}},
		Command:   []string{"k6", "x", "coordinate"},
		Secrets:   map[string]string{"RELAY_PASSWORD": "hunter2hunter2"},
		Files:     map[string]string{"mine.json": "{\"url\": \"http://relay\"}\n"},
	}
}

// documents decodes printed manifests, by kind and name.
func documents(t *testing.T, text string) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	for decoder := yaml.NewDecoder(strings.NewReader(text)); ; {
		var document map[string]any
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		metadata := document["metadata"].(map[string]any)
		found[document["kind"].(string)+" "+metadata["name"].(string)] = document
	}
}

// at returns the value at a path of keys and indexes.
func at(t *testing.T, value any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch step := step.(type) {
		case string:
			value = value.(map[string]any)[step]
		case int:
			value = value.([]any)[step]
		}
	}
	return value
}

func TestManifestsAreWhole(t *testing.T) {
	m := example()
	text, err := m.Text(root)
	if err != nil {
		t.Fatal(err)
	}
	found := documents(t, text)
	for _, name := range []string{"Secret windtunnel-0a-1", "ConfigMap windtunnel-0a-1", "Service windtunnel-0a-1-coordinator",
		"NetworkPolicy windtunnel-0a-1", "NetworkPolicy windtunnel-0a-1-coordinator", "Job windtunnel-0a-1-coordinator", "TestRun windtunnel-0a-1"} {
		document, there := found[name]
		if !there {
			t.Errorf("no %s", name)
			continue
		}
		if label := at(t, document, "metadata", "labels", "windtunnel/run"); label != "0a" {
			t.Errorf("%s has the label %v", name, label)
		}
		if id := at(t, document, "metadata", "annotations", "windtunnel/run"); id != m.RunID {
			t.Errorf("%s has the run %v", name, id)
		}
	}
	if len(found) != 7 {
		t.Errorf("%d objects", len(found))
	}
	run := found["TestRun windtunnel-0a-1"]
	if got := at(t, run, "spec", "script", "localFile"); got != "/windtunnel/scripts/pulsar/concurrent.js" {
		t.Error(got)
	}
	if got := at(t, run, "spec", "parallelism"); got != 3 {
		t.Error(got)
	}
	if limits, requests := at(t, run, "spec", "runner", "resources", "limits", "cpu"), at(t, run, "spec", "runner", "resources", "requests", "cpu"); limits != "500m" || requests != limits {
		t.Error(limits, requests)
	}
	if got := at(t, run, "spec", "initializer", "env", 2, "value"); got != m.Variables[1].Value {
		t.Errorf("%q", got)
	}
	if got := at(t, found["ConfigMap windtunnel-0a-1"], "data", "mine.json"); got != m.Files["mine.json"] {
		t.Errorf("%q", got)
	}
}

func TestNobodyButTheSecretHasASecret(t *testing.T) {
	m := example()
	printed, err := m.Text(root)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(printed, "hunter2") {
		t.Error("a secret is printed")
	}
	for file, has := range map[string]bool{ownedFile: true, jobFile: false, testRunFile: false} {
		text, err := m.render(root, file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "hunter2") != has {
			t.Errorf("%s: a secret is in it: %v", file, !has)
		}
	}
	for _, v := range m.InitializerVariables() {
		if v.ValueFrom != nil {
			t.Errorf("the initializer has %s", v.Name)
		}
	}
}

func TestRunnersKnowTheCoordinator(t *testing.T) {
	m := example()
	for address, want := range map[string]string{
		"":          "http://windtunnel-0a-1-coordinator:7950",
		"10.96.0.7": "http://10.96.0.7:7950",
		"fd00::7":   "http://[fd00::7]:7950",
	} {
		m.address = address
		if got := m.RunnerVariables()[0]; got.Name != "COORDINATOR_URL" || got.Value != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}

func TestTheJobOwnsAllElse(t *testing.T) {
	m := example()
	m.Owner, m.Suspended = "1234", true
	for _, file := range []string{ownedFile, testRunFile} {
		text, err := m.render(root, file)
		if err != nil {
			t.Fatal(err)
		}
		for name, document := range documents(t, text) {
			if got := at(t, document, "metadata", "ownerReferences", 0, "uid"); got != "1234" {
				t.Errorf("%s is owned by %v", name, got)
			}
		}
	}
}

func TestWhatK6SaysIsItsMessage(t *testing.T) {
	for line, want := range map[string]string{
		`time="2026-11-23T17:12:36Z" level=error msg="PASSWORD is \"not\" set\n" hint="script exception"`: `PASSWORD is "not" set`,
		"COORDINATOR_TOKEN is not set": "COORDINATOR_TOKEN is not set",
	} {
		if got := message(line); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The fields of the types TestRunSpec, Pod and K6Script (api/v1alpha1) that k6-operator has in both 0.0.19 and 1.6. Version 1
// has more fields, such as args and the restartPolicy of initContainers.
func TestTheTestRunHasOnlyWhatAllVersionsOfTheOperatorKnow(t *testing.T) {
	spec := []string{"script", "parallelism", "separate", "arguments", "ports", "initializer", "starter", "runner", "quiet", "paused",
		"scuttle", "cleanup", "testRunId", "token"}
	pod := []string{"affinity", "automountServiceAccountToken", "env", "image", "imagePullSecrets", "imagePullPolicy", "metadata",
		"nodeSelector", "tolerations", "topologySpreadConstraints", "resources", "serviceAccountName", "securityContext",
		"containerSecurityContext", "envFrom", "readinessProbe", "livenessProbe", "volumes", "volumeMounts"}
	m := example()
	m.Streamed, m.pullSecret = true, "mine"
	text, err := m.Text(root)
	if err != nil {
		t.Fatal(err)
	}
	run := documents(t, text)["TestRun windtunnel-0a-1"]
	only := func(known []string, path ...any) {
		for field := range at(t, run, path...).(map[string]any) {
			if !slices.Contains(known, field) {
				t.Errorf("%v has the field %s, which not all versions know", path, field)
			}
		}
	}
	only(spec, "spec")
	only([]string{"volumeClaim", "configMap", "localFile"}, "spec", "script")
	for _, part := range []string{"initializer", "starter", "runner"} {
		only(pod, "spec", part)
		only([]string{"annotations", "labels"}, "spec", part, "metadata")
	}
}
