// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"windtunnel/k6/internal/children"
	"windtunnel/k6/internal/coordinator"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/profiles"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/sidecar"
)

const (
	// runnersWait is how long runners on this machine may take to join.
	runnersWait = 2 * time.Minute
	// runnersSilence is the time without a message after which a runner counts as dead; the end of its process is
	// noticed sooner.
	runnersSilence = 30 * time.Second
	// progressEvery is the interval between updates of the progress.
	progressEvery = 500 * time.Millisecond
)

// together is a scenario run by several k6 processes.
type together struct {
	child    children.K6 // common settings of the k6 processes
	token    string      // of the coordinator
	instance sidecar.Instance
}

type ended struct {
	code    int
	message string
	err     error
}

// runTogether runs the scenario with several k6 processes under a coordinator, and judges all their records as one.
func (b *session) runTogether(ctx context.Context, j job, t together, entry *run.Scenario) (broken string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		setupFailed(entry, run.OfBench, fmt.Sprintf("the coordinator cannot listen: %v", err))
		return ""
	}
	keeper := coordinator.New(coordinator.Config{Runners: b.Runners, Token: t.token, Folder: j.dir, Name: j.scenario.FileStem(),
		Patience: runnersWait, Silence: runnersSilence, Say: func(line string) {
			if !b.interrupts.Any() { // after an interrupt, the user knows why
				b.screen.Error("%s: %s", j.scenario, line)
			}
		}})
	server := keeper.Server()
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	go keeper.Watch(watching)
	t.child.Env = append(t.child.Env, "COORDINATOR_URL=http://"+listener.Addr().String(), "COORDINATOR_TOKEN="+t.token)
	whatEnded := b.stopWhenEnded(j, t.instance)
	all := b.runAll(j, t, keeper)
	systemEnded := whatEnded()
	entry.Coordinator = keeper.Cost("k6 x bench")
	worst := worstOf(all, keeper.Stopped(), systemEnded == "" && profiles.LooksForLimit(b.Profile))
	if worst.err != nil {
		setupFailed(entry, run.OfBench, fmt.Sprintf("k6: %v", exit.Reason(worst.err)))
		return ""
	}
	if worst.code != children.Killed {
		entry.ExitCode = &worst.code
	}
	err = b.writeTogether(j, t, keeper)
	if t.instance.ID == "" && keeper.Unclean() {
		b.runCleanUp(j, t.child)
	}
	if err != nil && worst.code == children.Killed && !b.interrupts.Any() {
		setupFailed(entry, run.OfBench, cmp.Or(keeper.Stopped(), err.Error()))
		return ""
	}
	if err != nil && worst.message == "" {
		worst.message = err.Error()
	}
	return b.settle(j, worst.code, cmp.Or(systemEnded, worst.message), entry)
}

func (b *session) runAll(j job, t together, keeper *coordinator.Coordinator) []ended {
	all := make([]ended, b.Runners)
	pids := make([]int, b.Runners)
	var running, starting sync.WaitGroup
	for i := range all {
		child := b.runner(j, t.child, i+1)
		once := sync.OnceFunc(starting.Done)
		child.Started = func(pid int) {
			b.interrupts.Started(pid)
			pids[i] = pid
			once()
		}
		starting.Add(1)
		running.Go(func() {
			defer once()
			code, message, err := child.Run()
			all[i] = ended{code, message, err}
			keeper.Gone(i+1, wayOf(all[i]))
		})
	}
	starting.Wait()
	names := map[string]int{}
	for i, pid := range pids {
		if pid != 0 {
			names[fmt.Sprintf("k6 (runner %d)", i+1)] = pid
		}
	}
	stopSampling := b.sample(j, t.instance, names)
	stopShowing := children.Every(progressEvery, func() { b.screen.Progress(j.label + "  " + keeper.Progress()) })
	running.Wait()
	stopShowing()
	stopSampling()
	return all
}

// runner returns the child process that makes one part of the load.
func (b *session) runner(j job, child children.K6, number int) children.K6 {
	child.Args = coordinator.SegmentArgs(number, b.Runners)
	child.LogPath = j.log(fmt.Sprintf(".runner-%d.k6.log", number))
	child.Progress = func(string) {}
	child.Ended = b.interrupts.Ended
	child.Env = slices.Clone(child.Env)
	if b.Dashboard { // each runner has its own dashboard
		port, _ := strconv.Atoi(b.DashboardPort())
		child.Env = append(child.Env, fmt.Sprintf("K6_WEB_DASHBOARD_PORT=%d", port+number-1),
			"K6_WEB_DASHBOARD_EXPORT="+j.dashboardOf(number))
	}
	return child
}

// wayOf says how a runner ended, in the coordinator's words.
func wayOf(e ended) string {
	switch {
	case e.err != nil:
		return fmt.Sprintf("could not run: %v", exit.Reason(e.err))
	case e.code == children.Killed:
		return "was killed"
	case e.message != "":
		return "ended: " + e.message
	}
	return fmt.Sprintf("ended with exit code %d", e.code)
}

// worstOf returns the end that explains why a run did not go as planned. Runners that were stopped because of another
// one do not count. A threshold that failed in one part does not decide the whole. If the run looks for the limit, the
// runner that finds the limit ends the others, as planned.
func worstOf(all []ended, stopped string, forLimit bool) ended {
	found := forLimit && slices.ContainsFunc(all, func(e ended) bool { return e.code == exit.Fail })
	rank := func(e ended) int {
		switch {
		case e.err != nil:
			return 0
		case e.code == exit.Pass, e.code == exit.Fail, found && e.code == externallyAborted:
			return 5
		case stopped != "" && strings.Contains(e.message, stopped), e.code == externallyAborted:
			return 4
		case e.code == children.Killed:
			return 3
		case slices.Contains(setUpFails, e.code):
			return 1
		}
		return 2
	}
	worst := slices.MinFunc(all, func(a, b ended) int { return rank(a) - rank(b) })
	if rank(worst) == 5 {
		return ended{code: exit.Pass}
	}
	return worst
}

func (j job) dashboardOf(number int) string {
	return j.file(fmt.Sprintf(".runner-%d.dashboard.html", number))
}

// writeTogether removes secrets from the runners' files, judges the received records, and writes the result. It returns an error if there is no result.
func (b *session) writeTogether(j job, t together, keeper *coordinator.Coordinator) error {
	redactor := t.child.Redactor
	files, _ := keeper.Records()
	for _, path := range files {
		b.redact(path, redactor.RecordFile)
	}
	for number := 1; number <= b.Runners; number++ {
		b.redact(j.dashboardOf(number), redactor.File)
	}
	found, err := keeper.Judge()
	if err != nil {
		return err
	}
	return found.Write(j.file(".json"), redactor.ResultFile)
}
