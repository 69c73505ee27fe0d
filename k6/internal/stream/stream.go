// SPDX-License-Identifier: AGPL-3.0-only

// Package stream writes to InfluxDB, while they come about, the parts of a run that no k6 knows:
// events, verdicts, results, processes. It keeps account of what InfluxDB misses.
package stream

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// Output is what `k6 run --out` takes for k6 to stream as well.
const Output = "windtunnel"

// limits have room for ten minutes of processes; results are worth more than seconds.
var limits = influx.Limits{Batches: 600, Bytes: 8 << 20}

// Stream is open for a whole session of runs. All its methods do nothing on nil, which stands for no streaming.
type Stream struct {
	config influx.Config
	tell   func(line string)
	clean  func(text string) string
	sender *influx.Sender

	mu      sync.Mutex
	warned  bool
	missing map[Of]influx.Seconds // by k6
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
	s := &Stream{config: config, tell: tell, clean: clean, missing: map[Of]influx.Seconds{}}
	s.sender = influx.NewSender(config, limits, s.warn)
	return s
}

// URL is where it streams to.
func (s *Stream) URL() string { return s.config.URL }

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

// Started writes that a scenario began.
func (s *Stream) Started(of Of) {
	s.write(func(b *influx.Batch, at time.Time) { event(b, of, start, of.name(), "profile "+of.Profile, at) })
}

// Ended writes how a scenario ended, with its result where there is one.
func (s *Stream) Ended(of Of, entry run.Scenario, measuredResult *result.Result, took time.Duration) {
	s.write(func(b *influx.Batch, at time.Time) {
		reasons := entry.Message
		if measuredResult != nil && len(measuredResult.Reasons) > 0 {
			reasons = strings.Join(measuredResult.Reasons, "\n")
		}
		outcome(b, of, entry.Outcome, s.clean(reasons), took, at)
		if measuredResult != nil {
			measured(b, of, *measuredResult, at)
		}
		gapEvent(b, of, s.missedBy(of))
	})
}

// RunEnded writes that a run ended.
func (s *Stream) RunEnded(of Of, verdict string) {
	s.write(func(b *influx.Batch, at time.Time) { ended(b, of, runEnd, verdict, "profile "+of.Profile, at) })
}

// Used writes what was used between two looks at windows of the sidecar: of the second that ended last, or,
// at the end of all, of what there is of this one.
func (s *Stream) Used(of Of, spans []Span, over bool) {
	s.write(func(b *influx.Batch, at time.Time) {
		if !over {
			at = at.Add(-time.Second / 2)
		}
		used(b, of, spans, at.Truncate(time.Second))
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
	if s == nil {
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
	if report.Missing != nil {
		s.mu.Lock()
		s.missing[of] = *report.Missing
		s.mu.Unlock()
	}
}

func (s *Stream) missedBy(of Of) influx.Seconds {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.missing[of]
}

// Note says what InfluxDB misses of what a scenario's k6 measured, "" where nothing.
func (s *Stream) Note(of Of) string {
	if s == nil {
		return ""
	}
	missed := s.missedBy(of)
	if missed.Count() == 0 {
		return ""
	}
	return missed.Sentence()
}

// Close sends what waits, a few seconds at most, and returns a line about what InfluxDB misses of the
// session, "" where there was no trouble.
func (s *Stream) Close(of Of) string {
	if s == nil {
		return ""
	}
	s.write(func(b *influx.Batch, _ time.Time) { gapEvent(b, of, s.sender.Outage().Missing) })
	missing := s.sender.Close().Missing
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, by := range s.missing {
		missing.Union(by)
	}
	if !s.warned {
		return ""
	}
	return missing.Sentence()
}
