// SPDX-License-Identifier: AGPL-3.0-only

// Package stream writes the parts of a run that k6 does not know to InfluxDB during the run: events, verdicts, results,
// processes. It records which points InfluxDB lacks.
package stream

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// Output is the value of `k6 run --out` that makes k6 stream as well.
const Output = "windtunnel"

// limits hold ten minutes of processes, which are dropped first: results matter more than seconds.
var limits = influx.Limits{Batches: 600, Bytes: 8 << 20}

// Stream is open for a whole session of runs. On nil, which means no streaming, all methods do nothing.
type Stream struct {
	tell   func(line string)
	clean  func(text string) string
	sender *influx.Sender // nil for a stream that only listens

	mu      sync.Mutex
	warned  bool
	noticed map[string]bool
	missing map[Of]influx.Seconds // seconds missing from k6's stream
	owing   map[Of]bool           // scenarios whose k6 has warned, and has not yet reported what is missing
}

// Wanted reports whether the variables ask for streaming. INFLUX does. INFLUX_PASSWORD alone does if a server answers at
// the default address.
func Wanted(ctx context.Context, getenv func(string) string) (config influx.Config, wanted bool, err error) {
	if getenv(influx.VariableURL) == "" && getenv(influx.VariablePassword) == "" {
		return config, false, nil
	}
	config, err = influx.FromEnvironment(getenv)
	if err != nil || config.Given {
		return config, err == nil, err
	}
	return config, config.Answers(ctx), nil
}

// Open starts to stream. tell prints a line about trouble; clean removes secrets from a text.
func Open(config influx.Config, tell func(line string), clean func(text string) string) *Stream {
	s := Listen(tell, clean)
	s.sender = influx.NewSender(config, limits, s.warn)
	return s
}

// Listen returns a stream that writes nothing: it records which points of others InfluxDB lacks, as reported to Heard.
func Listen(tell func(line string), clean func(text string) string) *Stream {
	return &Stream{tell: tell, clean: clean, noticed: map[string]bool{},
		missing: map[Of]influx.Seconds{}, owing: map[Of]bool{}}
}

func (s *Stream) warn(line string) {
	s.mu.Lock()
	first := !s.warned
	s.warned = true
	s.mu.Unlock()
	if first {
		s.tell(s.clean(line))
	}
}

// RunStarted writes the start of a run, TurnStarted of a run of a comparison.
func (s *Stream) RunStarted(of Of, text string)  { s.began(runStart, of, text) }
func (s *Stream) TurnStarted(of Of, text string) { s.began(turnStart, of, text) }

func (s *Stream) began(kind string, of Of, text string) {
	s.write(func(b *influx.Batch, at time.Time) { event(b, of, kind, "run "+of.TestID, s.clean(text), at) })
}

// RunEnded writes the end of a run, TurnEnded of a run of a comparison.
func (s *Stream) RunEnded(of Of, verdict string)  { s.ended(runEnd, of, verdict) }
func (s *Stream) TurnEnded(of Of, verdict string) { s.ended(turnEnd, of, verdict) }

func (s *Stream) ended(kind string, of Of, verdict string) {
	s.write(func(b *influx.Batch, at time.Time) {
		b.Add("events", of.tags("kind", kind), judged(of, verdict, "profile "+of.Profile), at)
	})
}

// Started writes the start of a scenario.
func (s *Stream) Started(of Of) {
	s.write(func(b *influx.Batch, at time.Time) { event(b, of, start, of.name(), "profile "+of.Profile, at) })
}

// Ended writes the end of a scenario, with its result if there is one in the folder of the run.
func (s *Stream) Ended(of Of, entry run.Scenario, dir string, took time.Duration) {
	s.write(func(b *influx.Batch, at time.Time) {
		reasons, checks := entry.Message, []result.Validity(nil)
		if r, err := result.Read(filepath.Join(dir, entry.Result)); entry.Result != "" && err == nil {
			reasons, checks = cmp.Or(strings.Join(result.Texts(r.Reasons), "\n"), reasons), r.Validity
			measured(b, of, r, at)
		}
		outcome(b, of, entry.Outcome, s.clean(reasons), checks, took, at)
		gapEvent(b, of, s.missedBy(of))
	})
}

// Used writes the usage and traffic between two looks at windows and links of the sidecar. It belongs to the last
// complete second or, if over, to the current one. at is the start of the later look: the end of a slow look could lie
// in the next second.
func (s *Stream) Used(of Of, look Look, at time.Time, over bool) {
	s.write(func(b *influx.Batch, _ time.Time) {
		if !over {
			at = at.Add(-time.Second / 2)
		}
		b.Spare = true
		used(b, of, look.Spans, at.Truncate(time.Second))
		linked(b, of, look.Links, at.Truncate(time.Second))
	})
}

func gapEvent(b *influx.Batch, of Of, missed influx.Seconds) {
	if missed.Count() > 0 {
		first, _ := missed.Bounds()
		event(b, of, gap, fmt.Sprintf("%s: %d seconds are missing", of.name(), missed.Count()), missed.Sentence(), first)
	}
}

func (s *Stream) write(points func(b *influx.Batch, at time.Time)) {
	if s == nil || s.sender == nil {
		return
	}
	var b influx.Batch
	points(&b, time.Now())
	s.sender.Send(&b)
}

// Heard records a report of the output of a scenario's k6.
func (s *Stream) Heard(of Of, report influx.Report) {
	if s == nil {
		return
	}
	if report.Warning != "" {
		s.warn(report.Warning)
	}
	s.mu.Lock()
	fresh := report.Notice != "" && !s.noticed[report.Notice]
	s.noticed[report.Notice] = true
	if report.Warning != "" {
		s.owing[of] = true
	}
	if report.Missing != nil {
		all := s.missing[of] // several runners may report for one scenario
		all.Union(*report.Missing)
		s.missing[of] = all
		delete(s.owing, of)
	}
	s.mu.Unlock()
	if fresh {
		s.tell(s.clean(report.Notice))
	}
}

func (s *Stream) missedBy(of Of) influx.Seconds {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.missing[of]
}

// Notes say which measurements of a scenario's k6 InfluxDB lacks, nil if none.
func (s *Stream) Notes(of Of) []string {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	if missed := s.missing[of]; missed.Count() > 0 {
		lines = append(lines, missed.Sentence())
	}
	if s.owing[of] {
		lines = append(lines, unsent(of))
	}
	return lines
}

// unsent is the note for a k6 that ended before it reported its missing seconds: their number is unknown.
func unsent(of Of) string {
	return "InfluxDB misses what k6 of " + of.name() + " had not sent when it ended abruptly"
}

// Close sends the queue, for a few seconds at most, and returns lines about what InfluxDB lacks of the session; nil
// without trouble.
func (s *Stream) Close(of Of) []string {
	if s == nil {
		return nil
	}
	var missing influx.Seconds
	if s.sender != nil {
		s.write(func(b *influx.Batch, _ time.Time) { gapEvent(b, of, s.sender.Outage().Missing) })
		missing = s.sender.Close(context.Background()).Missing
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, by := range s.missing {
		missing.Union(by)
	}
	var lines []string
	if missing.Count() > 0 || s.warned && len(s.owing) == 0 {
		lines = append(lines, missing.Sentence())
	}
	for of := range s.owing {
		lines = append(lines, unsent(of))
	}
	slices.Sort(lines)
	return lines
}
