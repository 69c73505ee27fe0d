// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"encoding/json"
	"strings"
	"testing"
)

// seen is a state of objects and events, as kubectl prints them.
func seen(t *testing.T, objects, events string) state {
	t.Helper()
	s := state{name: "windtunnel-0a-1"}
	for text, into := range map[string]any{objects: &s.objects, events: &s.events} {
		if err := json.Unmarshal([]byte("["+text+"]"), into); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

const (
	runner = `{"kind": "Pod", "metadata": {"name": "w-1", "labels": {"runner": "true"}}, "status": {"phase": "Running"}}`
	noRoom = `{"kind": "Pod", "metadata": {"name": "w-2", "labels": {"runner": "true"}}, "status": {"phase": "Pending",
		"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes are available:\n1 Insufficient cpu."}]}}`
	noImage = `{"kind": "Pod", "metadata": {"name": "w-3"}, "status": {"phase": "Pending",
		"containerStatuses": [{"name": "k6", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]}}`
	creating = `{"kind": "Pod", "metadata": {"name": "w-4"}, "status": {"phase": "Pending",
		"containerStatuses": [{"name": "k6", "state": {"waiting": {"reason": "ContainerCreating"}}}]}}`
	ended = `{"kind": "Pod", "metadata": {"name": "c", "labels": {"windtunnel/part": "coordinator"}}, "status": {"phase": "Running",
		"containerStatuses": [{"name": "coordinator", "state": {"terminated": {"exitCode": 99}}}, {"name": "keeper", "ready": true, "state": {"running": {}}}]}}`
	testRun = `{"kind": "TestRun", "metadata": {"name": "windtunnel-0a-1"}, "status": {"stage": "started"}}`
	noQuota = `{"involvedObject": {"kind": "Job", "name": "windtunnel-0a-1-2"}, "reason": "FailedCreate", "message": "pods is forbidden: exceeded quota: small"}`
	noDNS   = `{"involvedObject": {"kind": "Pod", "name": "windtunnel-0a-1-2"}, "reason": "MissingClusterDNS", "message": "falls back"}`
)

func TestWhatCannotGetFurtherIsTold(t *testing.T) {
	for _, c := range []struct{ objects, events, hopeless, waits string }{
		{runner, noDNS, "", ""},
		{runner + "," + noRoom, "", "", "pod w-2 has no node: 0/1 nodes are available: 1 Insufficient cpu."},
		{noImage, "", "pod w-3 does not start: ImagePullBackOff: no such image", "pod w-3: ImagePullBackOff: no such image"},
		{creating, "", "", ""},
		{runner, noQuota, "windtunnel-0a-1-2 gets no pod: pods is forbidden: exceeded quota: small", ""},
	} {
		s := seen(t, c.objects, c.events)
		if got := s.hopeless(); got != c.hopeless {
			t.Errorf("%q, want %q", got, c.hopeless)
		}
		if got := s.waitsFor(); got != c.waits {
			t.Errorf("%q, want %q", got, c.waits)
		}
	}
}

func TestTheStateOfARun(t *testing.T) {
	s := seen(t, strings.Join([]string{runner, noRoom, ended, testRun}, ","), "")
	if s.running() != 1 || s.stage() != "started" {
		t.Error(s.running(), s.stage())
	}
	pod, there := s.coordinator()
	if !there || pod.container("coordinator").State.Terminated.ExitCode != 99 || !pod.container("keeper").Ready {
		t.Error(pod)
	}
	if nothing := seen(t, "", ""); nothing.stage() != "" || nothing.running() != 0 {
		t.Error("nothing is something")
	}
}
