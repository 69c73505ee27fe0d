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
	// refusedEvery is the time to the next try after an error that a person must fix, such as a refused login. It is
	// long because the check of a wrong password costs the server much CPU time, and the server may be on the measured
	// machine.
	refusedEvery = 15 * time.Second
	// FlushLimit is how long Close waits for the server.
	FlushLimit = 5 * time.Second
)

// Limits bound the queue for an unreachable server. Beyond them the oldest batch is dropped, Spare batches first.
type Limits struct {
	Batches int
	Bytes   int // of compressed batches
}

// Outage is the effect of an unreachable server. Warning is the first trouble, "" without trouble. Missing are the
// seconds whose points were not written.
type Outage struct {
	Warning string
	Missing Seconds
}

// Any reports whether there was trouble, or points are missing.
func (o Outage) Any() bool { return o.Warning != "" || o.Missing.Count() > 0 }

// Sender writes batches in order from a separate goroutine, so that callers do not wait for the server.
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

type waiting struct {
	body    []byte
	seconds Seconds
	spare   bool
}

// NewSender starts a sender. It calls warn once, with one line, when trouble begins.
func NewSender(c Config, limits Limits, warn func(line string)) *Sender {
	ctx, stop := context.WithCancel(context.Background())
	s := &Sender{client: newClient(c), limits: limits, warn: warn, stop: stop,
		work: make(chan struct{}, 1), closed: make(chan struct{}), done: make(chan struct{})}
	go s.run(ctx)
	return s
}

// Write sends all that `give` gives to a sender, and waits for its end. It returns a line if a write failed, "" otherwise.
func Write(c Config, limits Limits, give func(*Sender)) string {
	warning := ""
	sender := NewSender(c, limits, func(line string) { warning = line })
	give(sender)
	outage := sender.Close(context.Background())
	if warning == "" && outage.Any() {
		warning = outage.Missing.Sentence()
	}
	return warning
}

// Send takes ownership of a batch and returns at once.
func (s *Sender) Send(b *Batch) {
	if b.lines.Len() == 0 {
		return
	}
	w := waiting{b.compressed(), b.seconds, b.Spare}
	s.mu.Lock()
	dropped := s.put(w, len(s.queue))
	s.mu.Unlock()
	if dropped {
		s.trouble(s.client.slow())
	}
	select {
	case s.work <- struct{}{}:
	default:
	}
}

// put inserts a batch into the queue, and reports whether a batch was dropped because of the limits. The caller holds
// mu.
func (s *Sender) put(w waiting, place int) (dropped bool) {
	s.queue = slices.Insert(s.queue, place, w)
	s.bytes += len(w.body)
	for len(s.queue) > s.limits.Batches || s.bytes > s.limits.Bytes {
		first := max(0, slices.IndexFunc(s.queue, func(w waiting) bool { return w.spare }))
		s.outage.Missing.Union(s.take(first).seconds)
		dropped = true
	}
	return dropped
}

// take removes a batch from the queue. The caller holds mu.
func (s *Sender) take(place int) waiting {
	taken := s.queue[place]
	s.queue = slices.Delete(s.queue, place, place+1)
	s.bytes -= len(taken.body)
	return taken
}

// trouble warns if there was no trouble before.
func (s *Sender) trouble(line string) {
	s.mu.Lock()
	first := s.outage.Warning == ""
	if first {
		s.outage.Warning = line
	}
	s.mu.Unlock()
	if first {
		s.warn(line)
	}
}

// Outage returns what is missing so far.
func (s *Sender) Outage() Outage {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.outage
	told.Missing = Seconds{}
	told.Missing.Union(s.outage.Missing)
	return told
}

// Close sends the queue, for up to FlushLimit or until the context ends. It tries an unreachable server only once. It
// returns what is missing in the end.
func (s *Sender) Close(ctx context.Context) Outage {
	close(s.closed)
	limit := time.AfterFunc(FlushLimit, s.stop)
	context.AfterFunc(ctx, s.stop)
	<-s.done
	inTime := limit.Stop()
	s.stop()
	s.client.http.CloseIdleConnections()
	s.mu.Lock()
	for len(s.queue) > 0 {
		s.outage.Missing.Union(s.take(0).seconds)
	}
	s.mu.Unlock()
	if !inTime && s.Outage().Missing.Count() > 0 {
		s.trouble(s.client.slow())
	}
	return s.Outage()
}

// run sends until the sender is closed and the queue is empty or the server is unreachable.
func (s *Sender) run(ctx context.Context) {
	defer close(s.done)
	away := false // whether the server was unreachable at the last try
	for {
		closed := s.isClosed() // read before the queue: the last batch may come together with the end
		again, sent := s.sendAll(ctx)
		switch {
		case closed && (sent || away || again > retryEvery || ctx.Err() != nil):
			return
		case closed:
			wait(ctx, again/4)
			continue
		case sent:
			away = false
			select {
			case <-s.work:
			case <-s.closed:
			}
			continue
		}
		away = true
		select {
		case <-time.After(again):
		case <-s.closed:
		}
	}
}

func (s *Sender) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// sendAll sends the queue. sent says that the queue is empty; otherwise again is the time until the next try.
func (s *Sender) sendAll(ctx context.Context) (again time.Duration, sent bool) {
	for {
		s.mu.Lock()
		if len(s.queue) == 0 {
			s.mu.Unlock()
			return 0, true
		}
		oldest := s.take(0)
		s.mu.Unlock()
		t := s.client.post(ctx, oldest.body)
		if t == nil {
			continue
		}
		if ctx.Err() == nil { // otherwise this program gave up
			s.trouble(t.line)
		}
		s.mu.Lock()
		if t.refused {
			s.outage.Missing.Union(oldest.seconds)
		} else {
			s.put(oldest, 0)
		}
		s.mu.Unlock()
		if !t.refused {
			return t.again, false
		}
	}
}
