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
	// beatEvery is the interval between signs of life.
	beatEvery = time.Second
	// lastWords bounds the last requests of a runner, so that they do not delay its end.
	lastWords = 3 * time.Second
	// othersNotice is how long other runners may continue their load after this runner noticed the coordinator's end.
	// Each learns of it at one of its next beats.
	othersNotice = 4 * beatEvery
)

var wall = time.Now

// member is this process as one of a run's runners.
type member struct {
	client coordinator.Client
	self   judge.Runner
	offset time.Duration // coordinator's clock minus this process's steady clock
	set    time.Duration // how far the machine's clock had been set forward when the load began
	data   []byte        // return value of another runner's set-up
	setUp  bool          // this runner set up

	loading     atomic.Bool           // between the start and the end of the load
	interrupted atomic.Bool           // a signal has stopped k6
	stopped     atomic.Pointer[error] // why this runner must stop its load
	loggedDeaf  atomic.Bool           // the missing coordinator has been reported
	over        chan struct{}
	endOnce     sync.Once
	cpuBefore   float64
	machine     cpus.Machine // CPU times of the machine when the load began
	began       time.Time    // start of the load
	loadS       float64      // duration of the load, 0 before its end
}

// ofProcess is the member of this process; nil if it is not one of several runners.
var ofProcess = sync.OnceValue(func() *member {
	url := os.Getenv("COORDINATOR_URL")
	if url == "" {
		return nil
	}
	return &member{client: coordinator.Client{URL: url, Token: os.Getenv("COORDINATOR_TOKEN")}, over: make(chan struct{})}
})

func (m *member) setsUp(ctx context.Context, definition string, segment *lib.ExecutionSegment, sequence *lib.ExecutionSegmentSequence) (does bool, err error) {
	m.self.Number, m.self.Of, err = coordinator.PlaceOf(segment, sequence)
	if err != nil {
		return false, err
	}
	m.self.Segment = "0:1"
	if segment != nil {
		m.self.Segment = segment.String()
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s", definition, sequence))
	registration := coordinator.Registration{Number: m.self.Number, Of: m.self.Of, Segment: m.self.Segment, Checksum: hex.EncodeToString(sum[:])}
	if m.self.Together, err = m.client.Register(ctx, registration); err != nil {
		return false, err
	}
	m.watchSignals()
	go m.beat()
	if m.offset, err = m.client.Offset(ctx); err != nil {
		return false, err
	}
	answer, err := m.client.SetUp(ctx)
	switch {
	case err != nil:
		return false, err
	case answer.Stop != "":
		return false, errors.New(answer.Stop)
	}
	m.setUp, m.data = answer.Do, answer.Data
	return answer.Do, nil
}

func (m *member) start(ctx context.Context) error {
	answer, err := m.client.Ready(ctx)
	switch {
	case err != nil:
		return err
	case answer.Stop != "":
		return errors.New(answer.Stop)
	}
	at := time.UnixMicro(int64(answer.StartUnixMS * 1e3)).Add(-m.offset)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(at.Sub(coordinator.Steady())):
	}
	m.self.StartOffsetMS = float64(coordinator.Steady().Sub(at).Nanoseconds()) / 1e6
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
	m.self.CPUS, m.self.CPUs = &used, &may
	if busy, ok := machine.BusyPercent(m.machine); ok {
		m.self.MachineCPUs, m.self.MachineBusyPercent = machine.Count, &busy
	}
	if m.interrupted.Load() {
		early = "was interrupted"
	}
	answer, err := m.client.Loaded(ctx, early)
	if err != nil {
		if m.setUp && m.self.Of > 1 {
			// The load of other runners would recreate the removed objects, such as a topic.
			pause(ctx, othersNotice)
		}
		// It is unknown whether another runner cleans up.
		m.self.Teardown = m.setUp
		return m.setUp, err
	}
	m.self.Teardown = answer.Do
	return answer.Do, nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// evidence is the script's evidence, completed with this runner's facts. Without a sidecar, the load lasted until
// teardown() by this runner's clock: k6's test continues while teardown() waits for other runners.
func (m *member) evidence(seen judge.Evidence, zeroUnixMS float64) judge.Evidence {
	seen.Runner = m.facts(zeroUnixMS)
	if seen.Usage == nil && m.loadS > 0 {
		seen.LoadS = m.loadS
	}
	return seen
}

func (m *member) facts(zeroUnixMS float64) *judge.Runner {
	// The script took its zero from the machine's clock, just before the load began.
	m.self.ZeroUnixMS, m.self.ClockOffsetMS = zeroUnixMS, float64((m.offset-m.set).Nanoseconds())/1e6
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	m.self.Machine = strings.TrimSpace(string(id))
	return &m.self
}

func (m *member) deliver(record []byte) error {
	err := m.client.Record(context.Background(), record)
	if err == nil {
		m.end()
		ctx, cancel := context.WithTimeout(context.Background(), lastWords)
		defer cancel()
		_ = m.client.Bye(ctx) // the coordinator waits only briefly for this
	}
	return err
}

func (m *member) withdraw(why string) {
	defer m.end()
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	if m.client.Number != 0 {
		_ = m.client.Leave(ctx, why) // otherwise the silence shows it
	}
}

func (m *member) stopAll(why string) {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), lastWords)
		defer cancel()
		_ = m.client.Stop(ctx, why) // otherwise the end of the load shows it
	}()
}

func (m *member) end() { m.endOnce.Do(func() { close(m.over) }) }

// watchSignals notes a signal to k6, which then stops anyway.
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

// beat sends signs of life, and stops the load if the coordinator says so or has gone.
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

// stopLoad stops k6 gracefully, like its first interrupt, and at most once: a second interrupt would stop it at once.
func (m *member) stopLoad(why error) {
	if !m.loading.CompareAndSwap(true, false) || m.interrupted.Load() {
		return
	}
	m.stopped.Store(&why)
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
}
