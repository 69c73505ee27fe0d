// SPDX-License-Identifier: AGPL-3.0-only

// Package stream writes to InfluxDB, while they come about, the parts of a run that no k6 knows:
// events, verdicts, results, processes. It keeps account of what InfluxDB misses.
package stream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// Output is what `k6 run --out` takes for k6 to stream as well.
const Output = "windtunnel"

// limits have room for ten minutes of processes, which are dropped first: results are worth more than seconds.
var limits = influx.Limits{Batches: 600, Bytes: 8 << 20}

// Stream is open for a whole session of runs. All its methods do nothing on nil, which stands for no streaming.
type Stream struct {
	tell   func(line string)
	clean  func(text string) string
	sender *influx.Sender // nil for one that only listens

	mu      sync.Mutex
	warned  bool
	noticed map[string]bool
	missing map[Of]influx.Seconds // by k6
	owing   map[Of]bool           // those whose k6 has warned, and not yet told what is missing
}

// Wanted reports whether the variables ask for streaming: INFLUX does, and INFLUX_PASSWORD alone does where a
// server answers at the default address.
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

// Open starts to stream. Tell prints a line about trouble; clean takes secrets out of a text.
func Open(config influx.Config, tell func(line string), clean func(text string) string) *Stream {
	s := Listen(tell, clean)
	s.sender = influx.NewSender(config, limits, s.warn)
	return s
}

// Listen streams nothing itself: it keeps account of what InfluxDB misses of others, whom Heard is told of.
func Listen(tell func(line string), clean func(text string) string) *Stream {
	return &Stream{tell: tell, clean: clean, noticed: map[string]bool{},
		missing: map[Of]influx.Seconds{}, owing: map[Of]bool{}}
}

// warn tells of trouble once in all.
func (s *Stream) warn(line string) {
	s.mu.Lock()
	first := !s.warned
	s.warned = true
	s.mu.Unlock()
	if first {
		s.tell(s.clean(line))
	}
}

// RunStarted writes that a run began.
func (s *Stream) RunStarted(of Of, text string) {
	s.write(func(b *influx.Batch, at time.Time) { event(b, of, runStart, "run "+of.TestID, s.clean(text), at) })
}

// TurnStarted writes that a run of a comparison began.
func (s *Stream) TurnStarted(of Of, text string) {
	s.write(func(b *influx.Batch, at time.Time) { event(b, of, turnStart, "run "+of.TestID, s.clean(text), at) })
}

// TurnEnded writes that a run of a comparison ended.
func (s *Stream) TurnEnded(of Of, verdict string) {
	s.write(func(b *influx.Batch, at time.Time) {
		b.Add("events", of.tags("kind", turnEnd), judged(of, verdict, "profile "+of.Profile), at)
	})
}

// Started writes that a scenario began.
func (s *Stream) Started(of Of) {
	s.write(func(b *influx.Batch, at time.Time) { event(b, of, start, of.name(), "profile "+of.Profile, at) })
}

// Ended writes how a scenario ended, with its result where there is one.
func (s *Stream) Ended(of Of, entry run.Scenario, measuredResult *result.Result, took time.Duration) {
	s.write(func(b *influx.Batch, at time.Time) {
		reasons := entry.Message
		if measuredResult != nil && len(measuredResult.Reasons) > 0 {
			reasons = strings.Join(result.Texts(measuredResult.Reasons), "\n")
		}
		var checks []result.Validity
		if measuredResult != nil {
			checks = measuredResult.Validity
		}
		outcome(b, of, entry.Outcome, s.clean(reasons), checks, took, at)
		if measuredResult != nil {
			measured(b, of, *measuredResult, at)
		}
		gapEvent(b, of, s.missedBy(of))
	})
}

// RunEnded writes that a run ended.
func (s *Stream) RunEnded(of Of, verdict string) {
	s.write(func(b *influx.Batch, at time.Time) {
		b.Add("events", of.tags("kind", runEnd), judged(of, verdict, "profile "+of.Profile), at)
	})
}

// Used writes what was used and carried between two looks at windows and links of the sidecar: of the second that ended last, or,
// at the end of all, of what there is of this one. At is when the later look began: a slow one would date it
// into the second of the next.
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

// gapEvent marks where the first of missing seconds was.
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

// Heard takes note of what the output of a scenario's k6 said in its log.
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
		all := s.missing[of] // several runners may be of one scenario
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

// Notes say what InfluxDB misses of what a scenario's k6 measured, none where nothing.
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

// unsent is of a k6 that ended before it could tell what is missing of it: nobody knows how much.
func unsent(of Of) string {
	return "InfluxDB misses what k6 of " + of.name() + " had not sent when it ended abruptly"
}

// Close sends what waits, a few seconds at most, and returns lines about what InfluxDB misses of the
// session, none where there was no trouble.
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
