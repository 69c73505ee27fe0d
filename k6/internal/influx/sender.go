// SPDX-License-Identifier: AGPL-3.0-only

package influx

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	retryEvery = time.Second
	// FlushLimit bounds how long a Close waits for the server.
	FlushLimit = 5 * time.Second
)

// Limits bound what waits for a server that is away; beyond them the oldest is dropped.
type Limits struct {
	Batches int
	Bytes   int // compressed
}

// Outage is what a server's absence did. Warning is the first trouble, "" where there was none; Missing
// are the seconds of which points were not written.
type Outage struct {
	Warning string
	Missing Seconds
}

// Sender writes batches from a goroutine of its own, in their order: nobody waits for the server.
type Sender struct {
	client *client
	limits Limits
	warn   func(line string)

	mu     sync.Mutex
	queue  []waiting
	bytes  int
	outage Outage

	work   chan struct{}
	closed chan struct{}
	done   chan struct{}
	stop   context.CancelFunc
}

// waiting is a batch on its way.
type waiting struct {
	body    []byte
	seconds Seconds
}

// NewSender starts a sender. Warn is called once, with one line, when trouble begins.
func NewSender(c Config, limits Limits, warn func(line string)) *Sender {
	ctx, stop := context.WithCancel(context.Background())
	s := &Sender{client: newClient(c), limits: limits, warn: warn, stop: stop,
		work: make(chan struct{}, 1), closed: make(chan struct{}), done: make(chan struct{})}
	go s.run(ctx)
	return s
}

// Send takes over a batch and returns at once.
func (s *Sender) Send(b *Batch) {
	if b.lines.Len() == 0 {
		return
	}
	s.mu.Lock()
	s.put(waiting{b.compressed(), b.seconds}, len(s.queue))
	s.mu.Unlock()
	select {
	case s.work <- struct{}{}:
	default:
	}
}

// put queues a batch at a place and gives the oldest up where that is too much, mu held.
func (s *Sender) put(w waiting, place int) {
	s.queue = slices.Insert(s.queue, place, w)
	s.bytes += len(w.body)
	for len(s.queue) > s.limits.Batches || s.bytes > s.limits.Bytes {
		s.outage.Missing.Union(s.take().seconds)
	}
}

// take takes the oldest batch out of the queue, mu held.
func (s *Sender) take() waiting {
	oldest := s.queue[0]
	s.queue = s.queue[1:]
	s.bytes -= len(oldest.body)
	return oldest
}

// Outage tells what was missed so far.
func (s *Sender) Outage() Outage {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.outage
	told.Missing = Seconds{}
	told.Missing.Union(s.outage.Missing)
	return told
}

// Close sends what waits, for FlushLimit at most and once only to a server that is away, and tells what
// was missed in the end.
func (s *Sender) Close() Outage {
	close(s.closed)
	limit := time.AfterFunc(FlushLimit, s.stop)
	<-s.done
	limit.Stop()
	s.stop()
	s.client.http.CloseIdleConnections()
	s.mu.Lock()
	for len(s.queue) > 0 {
		s.outage.Missing.Union(s.take().seconds)
	}
	s.mu.Unlock()
	return s.Outage()
}

// run sends until the sender is closed and either nothing waits or the server is away.
func (s *Sender) run(ctx context.Context) {
	defer close(s.done)
	away := false // before the sender was closed
	for {
		sent := s.sendAll(ctx)
		select {
		case <-s.closed:
			if sent || away || ctx.Err() != nil {
				return
			}
			wait(ctx, retryEvery/4)
			continue
		default:
		}
		away = !sent
		if away {
			select {
			case <-time.After(retryEvery):
			case <-s.closed:
			}
			continue
		}
		select {
		case <-s.work:
		case <-s.closed:
		}
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// sendAll sends what waits, and reports whether nothing does any more.
func (s *Sender) sendAll(ctx context.Context) bool {
	for {
		s.mu.Lock()
		if len(s.queue) == 0 {
			s.mu.Unlock()
			return true
		}
		oldest := s.take()
		s.mu.Unlock()
		if t := s.client.post(ctx, oldest.body); t != nil && !s.settle(oldest, t) {
			return false
		}
	}
}

// settle takes note of a batch that was not written, and reports whether the next one may go.
func (s *Sender) settle(w waiting, t *trouble) bool {
	s.mu.Lock()
	if t.refused {
		s.outage.Missing.Union(w.seconds)
	} else {
		s.put(w, 0)
	}
	first := s.outage.Warning == ""
	if first {
		s.outage.Warning = t.line
	}
	s.mu.Unlock()
	if first {
		s.warn(t.line)
	}
	return t.refused
}
