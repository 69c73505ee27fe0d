// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/klauspost/compress/zstd"
	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/seq"
)

// writer writes blocks of samples at once, and keeps the index for the end.
type writer struct {
	to          io.Writer
	encoder     *zstd.Encoder
	index       bytes.Buffer
	line        *json.Encoder
	raw, packed []byte
	last        trailer
}

// Write writes a record with the run's evidence.
func (r *Record) Write(to io.Writer, evidence json.RawMessage) error {
	w := &writer{to: to}
	w.line = json.NewEncoder(&w.index)
	var err error
	if w.encoder, err = newEncoder(); err != nil {
		return err
	}
	defer w.encoder.Close()
	if _, err := to.Write(begin()); err != nil {
		return err
	}
	if err := w.line.Encode(header{Schema, evidence}); err != nil {
		return err
	}
	for _, s := range r.sorted() {
		if err := s.write(w); err != nil {
			return err
		}
	}
	if err := w.line.Encode(w.last); err != nil {
		return err
	}
	return writeIndex(to, w.encoder, w.index.Bytes())
}

func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<17), zstd.WithLowerEncoderMem(true))
}

func writeIndex(to io.Writer, encoder *zstd.Encoder, text []byte) error {
	packed := encoder.EncodeAll(text, nil)
	_, err := to.Write(append(packed, end(len(packed))...))
	return err
}

// sorted returns the series in a fixed order that does not depend on the timing of VUs.
func (r *Record) sorted() []*Series {
	r.mu.Lock()
	defer r.mu.Unlock()
	return seq.Map(slices.Sorted(maps.Keys(r.series)), func(key string) *Series { return r.series[key] })
}

func (s *Series) write(w *writer) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.last.End.Series++
	e := entry{Metric: s.metric, Kind: s.kind, Tags: s.tags, Count: s.count, Sum: s.sum, Min: s.min, Max: s.max, Last: s.last, Nonzero: s.nonzero}
	if s.kind != metrics.Trend {
		return w.line.Encode(e)
	}
	if rest := s.samples.rest; rest != nil {
		e.Count = rest.TotalCount()
		e.Histogram = &histogram{Sum: s.samples.sum, Min: s.samples.min, Max: s.samples.max}
		if e.Histogram.Counts, err = rest.Encode(hdrhistogram.V2CompressedEncodingCookieBase); err != nil {
			return err
		}
	} else if own := s.samples.ordered(); own != nil {
		e.Count = own.count
		if e.Blocks, err = w.blocks(own); err != nil {
			return err
		}
	}
	w.last.End.Samples += e.Count
	return w.line.Encode(e)
}

// blocks writes the samples of a series, and returns the size of each block in bytes.
func (w *writer) blocks(own *ordered) (sizes []int, err error) {
	for _, b := range own.blocks {
		inside, err := own.load(b)
		if err != nil {
			return nil, err
		}
		w.raw = pack(inside, w.raw[:0])
		w.packed = w.encoder.EncodeAll(w.raw, w.packed[:0])
		if _, err := w.to.Write(w.packed); err != nil {
			return nil, err
		}
		sizes = append(sizes, len(w.packed))
	}
	return sizes, nil
}

// pack encodes sorted samples as signed varints: the first sample, then the difference of each sample to the previous
// one.
func pack(sorted []int64, to []byte) []byte {
	to = binary.AppendVarint(to, sorted[0])
	for i, value := range sorted[1:] {
		to = binary.AppendUvarint(to, uint64(value-sorted[i]))
	}
	return to
}

// Rewrite copies a record of the given size with changed evidence.
func Rewrite(from io.ReaderAt, size int64, to io.Writer, change func(evidence json.RawMessage) (json.RawMessage, error)) error {
	at, text, err := readIndex(from, size)
	if err != nil {
		return err
	}
	own, rest, _ := bytes.Cut(text, []byte("\n"))
	var first header
	if err := json.Unmarshal(own, &first); err != nil {
		return damaged(err)
	}
	if first.Evidence, err = change(first.Evidence); err != nil {
		return err
	}
	changed, err := json.Marshal(first)
	if err != nil {
		return err
	}
	encoder, err := newEncoder()
	if err != nil {
		return err
	}
	_, err = io.Copy(to, io.NewSectionReader(from, 0, at))
	return errors.Join(err, writeIndex(to, encoder, slices.Concat(changed, []byte("\n"), rest)), encoder.Close())
}
