// SPDX-License-Identifier: AGPL-3.0-only

package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.k6.io/k6/lib"

	"windtunnel/k6/internal/coordinator"
	"windtunnel/k6/internal/cpus"
	"windtunnel/k6/internal/judge"
)

const (
	// beatEvery is how often a runner says that it lives.
	beatEvery = time.Second
	// lastWords bounds what is said at the end, for which nobody waits longer.
	lastWords = 3 * time.Second
	// othersNotice is for how long others may go on with their load after this runner noticed that the coordinator is no more: each
	// heard of it last in the course of a beat, and asks again in that of the next.
	othersNotice = 4 * beatEvery
)

// wall is the machine's clock.
var wall = time.Now

// member is this process as one of the runners of a run.
type member struct {
	client coordinator.Client
	own    judge.Runner
	offset time.Duration // what this process's steady clock must be set forward by, to be the coordinator's
	set    time.Duration // by how much the machine's clock had been set forward when the load began
	data   []byte        // what another runner's set-up returned
	setUp  bool          // this one set up

	loading     atomic.Bool           // between the start and the end of its load
	interrupted atomic.Bool           // somebody has stopped k6 by a signal
	stopped     atomic.Pointer[error] // why this runner was told to stop its load
	toldDeaf    atomic.Bool           // it was told that the coordinator does not answer
	over        chan struct{}
	endOnce     sync.Once
	cpuBefore   float64
	machine     cpus.Machine // what its CPUs had done when the load began
	began       time.Time    // its load
	loadS       float64      // how long that lasted, 0 before its end
}

// ofProcess is the one of this process; nil where it is not one of several.
var ofProcess = sync.OnceValue(func() *member {
	url := os.Getenv("COORDINATOR_URL")
	if url == "" {
		return nil
	}
	return &member{client: coordinator.Client{URL: url, Token: os.Getenv("COORDINATOR_TOKEN")}, over: make(chan struct{})}
})

func (m *member) setsUp(ctx context.Context, definition string, segment *lib.ExecutionSegment, sequence *lib.ExecutionSegmentSequence) (does bool, err error) {
	m.own.Number, m.own.Of, err = coordinator.PlaceOf(segment, sequence)
	if err != nil {
		return false, err
	}
	m.own.Segment = "0:1"
	if segment != nil {
		m.own.Segment = segment.String()
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s", definition, sequence))
	registration := coordinator.Registration{Number: m.own.Number, Of: m.own.Of, Segment: m.own.Segment, Checksum: hex.EncodeToString(sum[:])}
	if m.own.Together, err = m.client.Register(ctx, registration); err != nil {
		return false, err
	}
	m.watchSignals()
	go m.beat()
	if m.offset, err = m.client.Offset(ctx); err != nil {
		return false, err
	}
	told, err := m.client.SetUp(ctx)
	switch {
	case err != nil:
		return false, err
	case told.Stop != "":
		return false, errors.New(told.Stop)
	}
	m.setUp, m.data = told.Do, told.Data
	return told.Do, nil
}

func (m *member) start(ctx context.Context) error {
	told, err := m.client.Ready(ctx)
	switch {
	case err != nil:
		return err
	case told.Stop != "":
		return errors.New(told.Stop)
	}
	at := time.UnixMicro(int64(told.StartUnixMS * 1e3)).Add(-m.offset)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(at.Sub(coordinator.Steady())):
	}
	m.own.StartOffsetMS = float64(coordinator.Steady().Sub(at).Nanoseconds()) / 1e6
	m.set = coordinator.Set(wall())
	m.cpuBefore, m.machine, m.began = cpus.Used(), cpus.OfMachine(), time.Now()
	m.loading.Store(true)
	return nil
}

func (m *member) tearsDown(ctx context.Context, early string) (does bool, err error) {
	m.loading.Store(false)
	used, machine := cpus.Used()-m.cpuBefore, cpus.OfMachine()
	m.loadS = time.Since(m.began).Seconds()
	may := cpus.Share()
	m.own.CPUS, m.own.CPUs = &used, &may
	if busy, ok := machine.BusyPercent(m.machine); ok {
		m.own.MachineCPUs, m.own.MachineBusyPercent = machine.Count, &busy
	}
	if m.interrupted.Load() {
		early = "was interrupted"
	}
	told, err := m.client.Loaded(ctx, early)
	if err != nil {
		if m.setUp && m.own.Of > 1 {
			// What others still send would make again what is removed, such as a topic.
			pause(ctx, othersNotice)
		}
		// Nobody can tell who else cleans up.
		m.own.Teardown = m.setUp
		return m.setUp, err
	}
	m.own.Teardown = told.Do
	return told.Do, nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// evidence is what the script saw, and what the record says of this runner beside it. Where no sidecar saw the load it lasted until
// teardown() by this runner's clock: k6's test goes on while teardown() waits for other runners.
func (m *member) evidence(seen judge.Evidence, zeroUnixMS float64) judge.Evidence {
	seen.Runner = m.facts(zeroUnixMS)
	if seen.Usage == nil && m.loadS > 0 {
		seen.LoadS = m.loadS
	}
	return seen
}

// facts are what the record says of this runner.
func (m *member) facts(zeroUnixMS float64) *judge.Runner {
	// The script found its zero by the machine's clock, just before the load began.
	m.own.ZeroUnixMS, m.own.ClockOffsetMS = zeroUnixMS, float64((m.offset-m.set).Nanoseconds())/1e6
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	m.own.Machine = strings.TrimSpace(string(id))
	return &m.own
}

func (m *member) deliver(record []byte) error {
	err := m.client.Record(context.Background(), record)
	if err == nil {
		m.end()
		ctx, cancel := context.WithTimeout(context.Background(), lastWords)
		defer cancel()
		_ = m.client.Bye(ctx) // nobody waits for it for long
	}
	return err
}

func (m *member) leave(why string) {
	defer m.end()
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	if m.client.Number != 0 {
		_ = m.client.Leave(ctx, why) // its silence tells too
	}
}

func (m *member) stopAll(why string) {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), lastWords)
		defer cancel()
		_ = m.client.Stop(ctx, why) // the end of its load tells too
	}()
}

// end ends what runs beside the script.
func (m *member) end() { m.endOnce.Do(func() { close(m.over) }) }

// watchSignals notes that k6 gets a signal: it stops by itself then.
func (m *member) watchSignals() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer signal.Stop(signals)
		select {
		case <-signals:
			m.interrupted.Store(true)
		case <-m.over:
		}
	}()
}

// beat says that the runner lives, and stops its load where the coordinator says so or is no more.
func (m *member) beat() {
	ticks := time.NewTicker(beatEvery)
	defer ticks.Stop()
	for {
		select {
		case <-m.over:
			return
		case <-ticks.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), m.client.Patience())
		stop, err := m.client.Beat(ctx)
		cancel()
		if !m.loading.Load() {
			continue
		}
		switch {
		case stop != "":
			m.stopLoad(errors.New(stop))
		case err != nil && m.client.Silent():
			m.stopLoad(coordinator.ErrDeaf)
		}
	}
}

// stopLoad stops k6 gracefully, as its first interrupt does, and at most once: a second one would stop it at once.
func (m *member) stopLoad(why error) {
	if !m.loading.CompareAndSwap(true, false) || m.interrupted.Load() {
		return
	}
	m.stopped.Store(&why)
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
}
