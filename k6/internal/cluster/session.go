// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"windtunnel/k6/internal/exit"
)

// Timeouts and limits for the cluster.
const (
	startsWithin  = 5 * time.Minute // to find a node with room, and pull an image
	takesWithin   = time.Minute     // for k6-operator to see the TestRun
	goesWithin    = 2 * time.Minute // to delete objects
	endsWithin    = 90 * time.Second
	forgivesFails = 15 // consecutive failed polls that are tolerated
)

// byASignal is the exit code above which a signal ended the process of a container.
const byASignal = 128

type session struct {
	kubectl
	Manifests
	root    string
	results string // the folder of the run
	logs    string // prefix of the logs' paths
	say     func(string)
	redact  func(string) string
	heard   func(log []byte) // receives the log of the runners
	killed  bool             // whether the coordinator was killed
	interrupts
}

// run runs a scenario and fetches its result, or says why there is no result.
func (s *session) run() *exit.Fault {
	if f := s.create(); f != nil {
		return f
	}
	if f := s.awaitCoordinator(); f != nil {
		return f
	}
	if f := s.make(testRunFile); f != nil {
		return f
	}
	return s.follow()
}

// create makes the suspended Job, then the objects that the Job owns, and resumes the Job.
func (s *session) create() *exit.Fault {
	s.Suspended = true
	text, err := s.render(s.root, jobFile)
	if err != nil {
		return exit.BadUsage("%v", err)
	}
	uid, err := s.kubectl.run(s.stop, text, "create", "--filename=-", "--output=jsonpath={.metadata.uid}")
	if err != nil {
		return s.refusal(err)
	}
	s.Owner = string(uid)
	if f := s.make(ownedFile); f != nil {
		return f
	}
	address, err := s.kubectl.run(s.stop, "", "get", "service", s.Coordinator(), "--output=jsonpath={.spec.clusterIP}")
	if err != nil {
		return s.refusal(err)
	}
	s.address = string(address)
	if _, err := s.kubectl.run(s.stop, "", "patch", "job", s.Coordinator(), `--patch={"spec":{"suspend":false}}`); err != nil {
		return s.refusal(err)
	}
	return nil
}

func (s *session) make(file string) *exit.Fault {
	text, err := s.render(s.root, file)
	if err != nil {
		return exit.BadUsage("%v", err)
	}
	if _, err := s.kubectl.run(s.stop, text, "create", "--filename=-"); err != nil {
		return s.refusal(err)
	}
	return nil
}

// refusal is the cluster's reason for rejecting an object.
func (s *session) refusal(err error) *exit.Fault {
	if s.stop.Err() != nil {
		return interrupted()
	}
	return exit.BadSetup("the cluster refuses %s: %s", s.Scenario, exit.OneLine(err.Error()))
}

func (s *session) awaitCoordinator() *exit.Fault {
	deadline := time.Now().Add(startsWithin)
	return s.watch(s.stop, func(seen state) (bool, *exit.Fault) {
		pod, there := seen.coordinator()
		if there && pod.container("coordinator").Ready {
			return true, nil
		}
		if there && pod.container("coordinator").State.Terminated != nil {
			return true, exit.BadSetup("the coordinator ended before it began: %s", s.lastLine("logs", pod.Metadata.Name, "--container=coordinator", "--tail=1"))
		}
		if reason := seen.hopeless(); reason != "" {
			return true, exit.BadSetup("%s", reason)
		}
		if time.Now().After(deadline) {
			return true, exit.BadSetup("the coordinator does not start within %s: %s", startsWithin, seen.orNoReason())
		}
		s.say(progress("waiting for the coordinator", seen))
		return false, nil
	})
}

// follow watches the runners and the coordinator until the coordinator has ended, and fetches the results.
func (s *session) follow() *exit.Fault {
	began, asked := time.Now(), false
	var pod object
	f := s.watch(s.hurry, func(seen state) (bool, *exit.Fault) {
		if s.stop.Err() != nil && !asked {
			asked = true
			s.interruptCoordinator(seen)
		}
		found, there := seen.coordinator()
		if !there {
			return true, exit.BadSetup("the coordinator's pod is gone: the pod or its node was deleted")
		}
		pod = found
		if ended := pod.container("coordinator").State.Terminated; ended != nil {
			s.killed = ended.ExitCode > byASignal && ended.ExitCode != exit.Interrupted
			return true, nil
		}
		return s.stuck(seen, time.Since(began))
	})
	if s.killed && f == nil {
		f = exit.BadSetup("the coordinator was killed")
	}
	if f != nil {
		s.letRunnersEnd()
		return f
	}
	s.keepLogs(pod.Metadata.Name)
	return s.fetch(pod.Metadata.Name)
}

// letRunnersEnd waits until the runners have noticed the coordinator's end and have cleaned up.
func (s *session) letRunnersEnd() {
	deadline := time.Now().Add(endsWithin)
	_ = s.watch(s.hurry, func(seen state) (bool, *exit.Fault) {
		s.say(fmt.Sprintf("%d of %d runners still run", seen.running(), s.Runners))
		return seen.stage() != "started" || seen.running() == 0 || time.Now().After(deadline), nil
	})
}

// stuck says why runners never start; the coordinator cannot know the reason.
func (s *session) stuck(seen state, since time.Duration) (bool, *exit.Fault) {
	switch stage := seen.stage(); {
	case stage == "" && since > takesWithin:
		return true, exit.BadSetup("k6-operator did not take the TestRun within %s: look whether its pod runs and watches this namespace", takesWithin)
	case stage == "error":
		return true, exit.BadSetup("k6-operator refuses the TestRun: %s", s.lastLine("logs", "job/"+s.Name+"-initializer", "--tail=1"))
	case stage != "started" && stage != "stopped" && stage != "finished":
		if reason := seen.hopeless(); reason != "" {
			return true, exit.BadSetup("%s", reason)
		}
		if since > startsWithin {
			return true, exit.BadSetup("%d of %d runners run after %s: %s", seen.running(), s.Runners, startsWithin, seen.orNoReason())
		}
	}
	s.say(progress(fmt.Sprintf("%d of %d runners run", seen.running(), s.Runners), seen))
	return false, nil
}

// interruptCoordinator asks the coordinator to stop the load, to clean up and to judge the data so far.
func (s *session) interruptCoordinator(seen state) {
	pod, there := seen.coordinator()
	if !there {
		return
	}
	ctx, done := context.WithTimeout(s.hurry, patience)
	defer done()
	_, _ = s.kubectl.run(ctx, "", "exec", pod.Metadata.Name, "--container=coordinator", "--", "sh", "-c", "kill -INT 1")
}

func (s *session) watch(ctx context.Context, done func(state) (bool, *exit.Fault)) *exit.Fault {
	fails := 0
	for {
		seen, err := s.look(ctx, s.Manifests)
		switch {
		case ctx.Err() != nil:
			return interrupted()
		case err != nil:
			if fails++; fails == forgivesFails {
				return exit.BadSetup("the cluster no longer answers: %v", err)
			}
		default:
			fails = 0
			if is, f := done(seen); is {
				return f
			}
		}
		select {
		case <-ctx.Done():
			return interrupted()
		case <-time.After(interval):
		}
	}
}

// keepLogs writes the logs of the coordinator and the runners beside the results.
func (s *session) keepLogs(coordinator string) {
	ctx, done := context.WithTimeout(s.hurry, endsWithin)
	defer done()
	for name, args := range map[string][]string{
		".coordinator.log": {"logs", coordinator, "--container=coordinator"},
		".runners.log": {"logs", "--selector=k6_cr=" + s.Name + ",runner=true", "--prefix", "--tail=-1",
			fmt.Sprintf("--max-log-requests=%d", s.Runners)},
	} {
		if text, err := s.kubectl.run(ctx, "", args...); err == nil {
			s.heard(text)
			_ = os.WriteFile(s.logs+name, []byte(s.redact(string(text))), 0o644)
		}
	}
}

func (s *session) lastLine(args ...string) string {
	ctx, done := context.WithTimeout(s.hurry, patience)
	defer done()
	text, err := s.kubectl.run(ctx, "", args...)
	if err != nil {
		return err.Error()
	}
	return s.redact(message(exit.OneLine(string(text))))
}

var k6Message = regexp.MustCompile(`^time=.* msg=("(?:[^"\\]|\\.)*")`)

// message returns the message of a line in k6's log, or the line itself.
func message(line string) string {
	if found := k6Message.FindStringSubmatch(line); found != nil {
		if text, err := strconv.Unquote(found[1]); err == nil {
			return exit.OneLine(text)
		}
	}
	return line
}

// fetch downloads the coordinator's files, and lets its pod end.
func (s *session) fetch(pod string) *exit.Fault {
	unpack := func(archive io.Reader) error { return untar(archive, s.results) }
	err := s.stream(s.hurry, unpack, "exec", pod, "--container=keeper", "--", "tar", "-cf", "-", "-C", "/windtunnel/results/"+s.RunID, ".")
	if err != nil {
		return exit.BadSetup("the results cannot be copied from the cluster: %s", exit.OneLine(err.Error()))
	}
	_, _ = s.kubectl.run(s.hurry, "", "exec", pod, "--container=keeper", "--", "touch", "/windtunnel/results/.taken")
	return nil
}

// kinds are the kinds of objects that a run makes in a cluster; pods and runners' Jobs are deleted with them.
const kinds = "testruns.k6.io,jobs,services,secrets,configmaps,networkpolicies"

// remove deletes all objects of the run from the cluster and waits until they are gone.
func (s *session) remove() *exit.Fault {
	ctx, done := context.WithTimeout(context.Background(), goesWithin)
	defer done()
	selector := "--selector=windtunnel/run=" + s.Label
	_, err := s.kubectl.run(ctx, "", "delete", kinds, selector, "--cascade=foreground", "--wait=true", "--ignore-not-found")
	if err == nil {
		_, err = s.kubectl.run(ctx, "", "wait", "pods", selector, "--for=delete", "--timeout="+goesWithin.String())
	}
	if err == nil || strings.Contains(err.Error(), "no matching resources") {
		return nil
	}
	return exit.BadSetup("something is left in the cluster (%s); remove it: kubectl delete %s %s", exit.OneLine(err.Error()), kinds, selector)
}

func progress(what string, seen state) string {
	if waits := seen.waitsFor(); waits != "" {
		return what + "; " + waits
	}
	return what
}

func (s state) orNoReason() string { return cmp.Or(s.waitsFor(), "the cluster does not say why") }
