// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/klauspost/compress/zstd"
	"go.k6.io/k6/metrics"
)

// Schema names the form of a record's file; docs/record.md describes it.
const Schema = "windtunnel.record/1"

// Extension is that of its name.
const Extension = ".record"

// header is the first line.
type header struct {
	Schema   string          `json:"schema"`
	Evidence json.RawMessage `json:"evidence"`
}

// entry is the line of a series. After that of a trend without a histogram come its samples, sorted: Count differences, as
// unsigned varints, the first as a signed one.
type entry struct {
	Metric string             `json:"metric"`
	Kind   metrics.MetricType `json:"kind"`
	Tags   map[string]string  `json:"tags"`
	Count  int64              `json:"count"`
	// Of what is no trend, and of a histogram.
	Sum     float64 `json:"sum,omitempty"`
	Min     float64 `json:"min,omitempty"`
	Max     float64 `json:"max,omitempty"`
	Last    float64 `json:"last,omitempty"`
	Nonzero int64   `json:"nonzero,omitempty"`
	// Histogram is one of HdrHistogram, V2 compressed encoding: https://github.com/HdrHistogram/HdrHistogram
	Histogram []byte `json:"histogram,omitempty"`
}

// trailer is the last line: a file without it was cut short.
type trailer struct {
	End struct {
		Series  int   `json:"series"`
		Samples int64 `json:"samples"`
	} `json:"end"`
}

// Write writes a record, with what the run left beside it.
func (r *Record) Write(to io.Writer, evidence json.RawMessage) error {
	compressed, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	out := bufio.NewWriter(compressed)
	line := json.NewEncoder(out)
	if err := line.Encode(header{Schema, evidence}); err != nil {
		return err
	}
	var end trailer
	for _, s := range r.sorted() {
		samples, err := s.write(out, line)
		if err != nil {
			return err
		}
		end.End.Series++
		end.End.Samples += samples
	}
	return errors.Join(line.Encode(end), out.Flush(), compressed.Close())
}

// sorted has the series in one order, whatever the VUs did first.
func (r *Record) sorted() []*Series {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*Series
	for _, key := range slices.Sorted(maps.Keys(r.series)) {
		all = append(all, r.series[key])
	}
	return all
}

func (s *Series) write(out *bufio.Writer, line *json.Encoder) (samples int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := entry{Metric: s.metric, Kind: s.kind, Tags: s.tags, Count: s.count, Sum: s.sum, Min: s.min, Max: s.max, Last: s.last, Nonzero: s.nonzero}
	if s.kind != metrics.Trend {
		return 0, line.Encode(e)
	}
	e.Count = s.samples.number()
	if rest := s.samples.rest; rest != nil {
		e.Sum, e.Min, e.Max = s.samples.sum, inUnits(s.samples.min), inUnits(s.samples.max)
		if e.Histogram, err = rest.Encode(hdrhistogram.V2CompressedEncodingCookieBase); err != nil {
			return 0, err
		}
		return e.Count, line.Encode(e)
	}
	if err := line.Encode(e); err != nil {
		return 0, err
	}
	slices.Sort(s.samples.exact)
	var buffer [binary.MaxVarintLen64]byte
	for i, value := range s.samples.exact {
		n := 0
		if i == 0 {
			n = binary.PutVarint(buffer[:], value)
		} else {
			n = binary.PutUvarint(buffer[:], uint64(value-s.samples.exact[i-1]))
		}
		if _, err := out.Write(buffer[:n]); err != nil {
			return 0, err
		}
	}
	return e.Count, nil
}

var (
	// errCut is of a file that ends before its last line.
	errCut = errors.New("it was cut short")
	// errForeign is of a file that is something else.
	errForeign = errors.New("it is no " + Schema)
)

// Read reads what Write wrote. The error is of a file that was cut short, that is damaged, or of another form.
func Read(from io.Reader) (*Record, json.RawMessage, error) {
	compressed, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, nil, err
	}
	defer compressed.Close()
	in := bufio.NewReader(compressed)
	first, err := headerOf(in)
	if err != nil {
		return nil, nil, err
	}
	r := New()
	var samples int64
	for {
		text, err := in.ReadBytes('\n')
		if err != nil {
			return nil, nil, unreadable(err)
		}
		var e struct {
			entry
			trailer
		}
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, nil, fmt.Errorf("a line of it is no JSON: %w", err)
		}
		if e.Metric == "" {
			if e.End.Series != len(r.series) || e.End.Samples != samples {
				return nil, nil, fmt.Errorf("it ends with %d series and %d samples, and has %d and %d", e.End.Series, e.End.Samples, len(r.series), samples)
			}
			return r, first.Evidence, nil
		}
		s := r.Series(e.Metric, e.Kind, e.Tags)
		if err := s.read(in, e.entry); err != nil {
			return nil, nil, unreadable(err)
		}
		samples += s.samples.number()
	}
}

func headerOf(in *bufio.Reader) (first header, err error) {
	text, err := in.ReadBytes('\n')
	if err != nil {
		return first, unreadable(err)
	}
	if json.Unmarshal(text, &first) != nil || first.Schema != Schema {
		return first, errForeign
	}
	return first, nil
}

func unreadable(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	case errors.Is(err, zstd.ErrMagicMismatch):
		return errForeign
	}
	return err
}

func (s *Series) read(in *bufio.Reader, e entry) error {
	if e.Kind != metrics.Trend {
		s.sum, s.min, s.max, s.last, s.count, s.nonzero = e.Sum, e.Min, e.Max, e.Last, e.Count, e.Nonzero
		return nil
	}
	if e.Histogram != nil {
		rest, err := hdrhistogram.Decode(e.Histogram)
		if err != nil {
			return err
		}
		s.samples.rest, s.samples.sum, s.samples.min, s.samples.max = rest, e.Sum, millionths(e.Min), millionths(e.Max)
		return nil
	}
	if e.Count == 0 {
		return nil
	}
	value, err := binary.ReadVarint(in)
	for err == nil {
		s.samples.exact = append(s.samples.exact, value)
		if int64(len(s.samples.exact)) == e.Count {
			return nil
		}
		var more uint64
		more, err = binary.ReadUvarint(in)
		value += int64(more)
	}
	return err
}

// Rewrite copies a record with other evidence.
func Rewrite(from io.Reader, to io.Writer, change func(evidence json.RawMessage) (json.RawMessage, error)) error {
	compressed, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer compressed.Close()
	in := bufio.NewReader(compressed)
	first, err := headerOf(in)
	if err != nil {
		return err
	}
	if first.Evidence, err = change(first.Evidence); err != nil {
		return err
	}
	out, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(first); err != nil {
		return err
	}
	if _, err := in.WriteTo(out); err != nil {
		return unreadable(err)
	}
	return out.Close()
}
