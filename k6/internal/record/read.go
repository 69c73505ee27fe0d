// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/klauspost/compress/zstd"
	"go.k6.io/k6/metrics"
)

// reader reads a record's file once from begin to end.
type reader struct {
	from io.ReaderAt
	// in is at the next block, whose offset is at; the samples end where the index begins.
	in      *bufio.Reader
	at, end int64
	unpacker
	samples int64
}

// Read reads a record of the given size and reports whether it is truncated, damaged, or of another format. It keeps no
// samples: queries read a few blocks again, so `from` must stay open.
func Read(from io.ReaderAt, size int64) (*Record, json.RawMessage, error) {
	at, text, err := readIndex(from, size)
	if err != nil {
		return nil, nil, err
	}
	first := int64(beginBytes)
	r := &reader{from: from, in: bufio.NewReaderSize(io.NewSectionReader(from, first, at-first), 1<<18), at: first, end: at}
	if r.decoder, err = newUnpacker(); err != nil {
		return nil, nil, err
	}
	defer r.decoder.Close()
	made, evidence, err := r.series(json.NewDecoder(bytes.NewReader(text)))
	if err != nil {
		return nil, nil, damaged(err)
	}
	return made, evidence, nil
}

// series reads the lines of the index, and the samples of each series.
func (r *reader) series(lines *json.Decoder) (*Record, json.RawMessage, error) {
	var first header
	if err := lines.Decode(&first); err != nil {
		return nil, nil, err
	}
	made := New()
	for {
		var e struct {
			entry
			trailer
		}
		if err := lines.Decode(&e); err != nil {
			return nil, nil, err
		}
		if e.Metric == "" {
			return made, first.Evidence, r.whole(len(made.series), e.trailer)
		}
		if err := r.fill(made.Series(e.Metric, e.Kind, e.Tags), e.entry); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", e.Metric, err)
		}
	}
}

func (r *reader) whole(series int, last trailer) error {
	if last.End.Series != series || last.End.Samples != r.samples || r.at != r.end {
		return fmt.Errorf("it ends with %d series and %d samples, and has %d and %d", last.End.Series, last.End.Samples, series, r.samples)
	}
	return nil
}

func (r *reader) fill(s *Series, e entry) (err error) {
	if e.Kind != metrics.Trend {
		s.sum, s.min, s.max, s.last, s.count, s.nonzero = e.Sum, e.Min, e.Max, e.Last, e.Count, e.Nonzero
		return nil
	}
	if e.Count == 0 {
		return nil
	}
	r.samples += e.Count
	if h := e.Histogram; h != nil {
		s.samples.sum, s.samples.min, s.samples.max = h.Sum, h.Min, h.Max
		if s.samples.rest, err = hdrhistogram.Decode(h.Counts); err == nil && s.samples.rest.TotalCount() != e.Count {
			err = fmt.Errorf("a histogram of %d samples, and %d were counted", s.samples.rest.TotalCount(), e.Count)
		}
		return err
	}
	s.samples.kept, err = r.blocks(e)
	return err
}

// blocks reads the samples of a series, and returns their offsets.
func (r *reader) blocks(e entry) (*ordered, error) {
	kept := &ordered{load: (&inFile{from: r.from}).load, blocks: make([]block, 0, len(e.Blocks))}
	var packed []byte
	for _, size := range e.Blocks {
		if size <= 0 || int64(size) > r.end-r.at {
			return nil, io.ErrUnexpectedEOF
		}
		packed = append(packed[:0], make([]byte, size)...)
		if _, err := io.ReadFull(r.in, packed); err != nil {
			return nil, err
		}
		inside, err := r.unpack(packed)
		if err != nil {
			return nil, err
		}
		b := block{first: inside[0], last: inside[len(inside)-1], count: int64(len(inside)), at: r.at, size: size}
		if n := len(kept.blocks); n > 0 && kept.blocks[n-1].last > b.first {
			return nil, errOrder
		}
		for _, value := range inside {
			kept.sum.add(value)
		}
		kept.append(b)
		r.at += int64(size)
	}
	if kept.count != e.Count {
		return nil, fmt.Errorf("%d samples, and %d were counted", kept.count, e.Count)
	}
	return kept, nil
}

// inFile reads the samples of one series from a file. It caches the last block, which is likely requested again.
type inFile struct {
	from io.ReaderAt
	at   int64
	kept []int64
}

var idle = sync.Pool{New: func() any {
	decoder, err := newUnpacker()
	if err != nil {
		panic(err) // the options are constant
	}
	return &unpacker{decoder: decoder}
}}

func (f *inFile) load(b block) ([]int64, error) {
	if f.kept != nil && f.at == b.at {
		return f.kept, nil
	}
	packed := make([]byte, b.size)
	if _, err := f.from.ReadAt(packed, b.at); err != nil {
		return nil, err
	}
	u := idle.Get().(*unpacker)
	defer idle.Put(u)
	inside, err := u.unpack(packed)
	if err == nil && int64(len(inside)) != b.count {
		err = errOrder
	}
	if err != nil {
		return nil, damaged(err)
	}
	f.at, f.kept = b.at, append(f.kept[:0], inside...)
	return f.kept, nil
}

var (
	errOrder  = errors.New("its samples are not in order")
	errVarint = errors.New("a number is cut short")
)

// unpacker decodes the samples of a block; they are valid until the next block.
type unpacker struct {
	decoder *zstd.Decoder
	raw     []byte
	inside  []int64
}

func newUnpacker() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(samplesMost))
}

func (u *unpacker) unpack(packed []byte) (inside []int64, err error) {
	if u.raw, err = u.decoder.DecodeAll(packed, u.raw[:0]); err != nil {
		return nil, err
	}
	value, n := binary.Varint(u.raw)
	if n <= 0 {
		return nil, errVarint
	}
	u.inside = append(u.inside[:0], value)
	for rest := u.raw[n:]; len(rest) > 0; rest = rest[n:] {
		more := uint64(rest[0])
		if n = 1; more >= 0x80 {
			if more, n = binary.Uvarint(rest); n <= 0 {
				return nil, errVarint
			}
		}
		next := value + int64(more)
		if next < value {
			return nil, errOrder
		}
		value = next
		u.inside = append(u.inside, value)
	}
	if len(u.inside) > blockSamples {
		return nil, errOrder
	}
	return u.inside, nil
}
