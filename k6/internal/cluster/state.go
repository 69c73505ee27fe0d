// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/seq"
)

// object has the fields that are read of a TestRun, a Job or a pod.
type object struct {
	Kind     string
	Metadata struct {
		Name   string
		Labels map[string]string
	}
	Status struct {
		Stage             string // of a TestRun
		Phase             string // of a pod
		Reason            string
		Message           string
		Conditions        []condition
		ContainerStatuses []container
	}
}

type condition struct{ Type, Status, Reason, Message string }

type container struct {
	Name  string
	Ready bool
	State struct {
		Waiting    *struct{ Reason, Message string }
		Running    *struct{}
		Terminated *struct {
			ExitCode int
			Reason   string
		}
	}
}

type event struct {
	InvolvedObject struct{ Kind, Name string }
	Reason         string
	Message        string
}

type state struct {
	name    string
	objects []object
	events  []event
}

func (k kubectl) look(ctx context.Context, m Manifests) (state, error) {
	var found struct{ Items []object }
	if err := k.get(ctx, &found, "get", "testruns.k6.io,jobs,pods", "--selector=windtunnel/run="+m.Label); err != nil {
		return state{}, err
	}
	var warnings struct{ Items []event }
	if err := k.get(ctx, &warnings, "get", "events", "--field-selector=type=Warning"); err != nil {
		return state{}, err
	}
	own := seq.Filter(warnings.Items, func(e event) bool { return strings.HasPrefix(e.InvolvedObject.Name, m.Name) })
	return state{name: m.Name, objects: found.Items, events: own}, nil
}

func (s state) of(kind string, is func(object) bool) []object {
	return seq.Filter(s.objects, func(o object) bool { return o.Kind == kind && is(o) })
}

func isRunner(o object) bool { return o.Metadata.Labels["runner"] == "true" }

func isCoordinator(o object) bool { return o.Metadata.Labels["windtunnel/part"] == "coordinator" }

func (s state) coordinator() (pod object, there bool) {
	return seq.Find(s.of("Pod", isCoordinator), func(object) bool { return true })
}

func (o object) container(name string) container {
	found, _ := seq.Find(o.Status.ContainerStatuses, func(c container) bool { return c.Name == name })
	return found
}

// stage is the stage of the TestRun in k6-operator.
func (s state) stage() string {
	for _, run := range s.of("TestRun", func(object) bool { return true }) {
		return run.Status.Stage
	}
	return ""
}

func (s state) running() int {
	return len(s.of("Pod", func(o object) bool { return isRunner(o) && o.Status.Phase == "Running" }))
}

// never are the waiting reasons of a container that waiting does not fix.
var never = []string{"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerError", "RunContainerError"}

// hopeless says why the scenario can never continue, "" if it may.
func (s state) hopeless() string {
	for _, pod := range s.of("Pod", func(object) bool { return true }) {
		for _, c := range pod.Status.ContainerStatuses {
			if w := c.State.Waiting; w != nil && slices.Contains(never, w.Reason) {
				return fmt.Sprintf("pod %s does not start: %s: %s", pod.Metadata.Name, w.Reason, exit.OneLine(w.Message))
			}
		}
	}
	for _, e := range s.events {
		if e.Reason == "FailedCreate" && strings.Contains(e.Message, "quota") {
			return fmt.Sprintf("%s gets no pod: %s", e.InvolvedObject.Name, exit.OneLine(e.Message))
		}
	}
	return ""
}

// waitsFor says what pods still wait for, such as a node with room, "" if they do not wait.
func (s state) waitsFor() string {
	for _, pod := range s.of("Pod", func(o object) bool { return o.Status.Phase == "Pending" }) {
		for _, c := range pod.Status.Conditions {
			if c.Type == "PodScheduled" && c.Status == "False" {
				return fmt.Sprintf("pod %s has no node: %s", pod.Metadata.Name, exit.OneLine(c.Message))
			}
		}
		for _, c := range pod.Status.ContainerStatuses {
			if w := c.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
				return fmt.Sprintf("pod %s: %s: %s", pod.Metadata.Name, w.Reason, exit.OneLine(w.Message))
			}
		}
	}
	return ""
}

const interval = 2 * time.Second
