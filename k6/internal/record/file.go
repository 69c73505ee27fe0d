// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"go.k6.io/k6/metrics"
)

// Schema names the form of a record's file; docs/reference/record.md describes it.
const Schema = "windtunnel.record/2"

// Extension is that of its name.
const Extension = ".record"

// header is the first line of the index.
type header struct {
	Schema   string          `json:"schema"`
	Evidence json.RawMessage `json:"evidence"`
}

// entry is the line of a series.
type entry struct {
	Metric string             `json:"metric"`
	Kind   metrics.MetricType `json:"kind"`
	Tags   map[string]string  `json:"tags"`
	Count  int64              `json:"count"`
	// Of what is no trend.
	Sum     float64 `json:"sum,omitempty"`
	Min     float64 `json:"min,omitempty"`
	Max     float64 `json:"max,omitempty"`
	Last    float64 `json:"last,omitempty"`
	Nonzero int64   `json:"nonzero,omitempty"`
	// Blocks are how many bytes each block of its samples has; the blocks of all series follow one another.
	Blocks []int `json:"blocks,omitempty"`
	// Histogram is in place of samples where there were too many.
	Histogram *histogram `json:"histogram,omitempty"`
}

// histogram is what is left of too many samples. Sum, Min and Max are exact, in millionths of the metric's unit.
type histogram struct {
	Sum sum   `json:"sum_millionths"`
	Min int64 `json:"min_millionths"`
	Max int64 `json:"max_millionths"`
	// Counts are HdrHistogram's V2 compressed encoding: https://github.com/HdrHistogram/HdrHistogram
	Counts []byte `json:"counts"`
}

// trailer is the last line of the index.
type trailer struct {
	End struct {
		Series  int   `json:"series"`
		Samples int64 `json:"samples"`
	} `json:"end"`
}

// A record begins and ends with a frame that Zstandard skips: https://www.rfc-editor.org/rfc/rfc8878#section-3.1.2
const (
	skippable   = 0x184d2a57
	frameHead   = 8
	beginBytes  = frameHead + len(Schema)
	endBytes    = frameHead + 8
	indexMost   = 256 << 20 // bytes, decompressed: the evidence, and a line for each series
	samplesMost = blockSamples * binary.MaxVarintLen64
)

func skipped(content []byte) []byte {
	frame := binary.LittleEndian.AppendUint32(nil, skippable)
	frame = binary.LittleEndian.AppendUint32(frame, uint32(len(content)))
	return append(frame, content...)
}

func begin() []byte { return skipped([]byte(Schema)) }

// end says how many bytes the index before it has.
func end(index int) []byte { return skipped(binary.LittleEndian.AppendUint64(nil, uint64(index))) }

var (
	// errCut is of a file that ends before its last frame.
	errCut = errors.New("it was cut short")
	// errForeign is of a file that is something else.
	errForeign = errors.New("it is no " + Schema)
)

// indexOf is where a record's index is: after all samples, and before the last frame.
func indexOf(from io.ReaderAt, size int64) (at int64, bytes int64, err error) {
	first := make([]byte, min(size, int64(beginBytes)))
	if _, err := from.ReadAt(first, 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, 0, err
	}
	switch {
	case string(first) != string(begin()[:len(first)]):
		return 0, 0, errForeign
	case size < int64(beginBytes+endBytes):
		return 0, 0, errCut
	}
	last := make([]byte, endBytes)
	if _, err := from.ReadAt(last, size-int64(endBytes)); err != nil && !errors.Is(err, io.EOF) {
		return 0, 0, err
	}
	bytes = int64(binary.LittleEndian.Uint64(last[frameHead:]))
	at = size - int64(endBytes) - bytes
	if string(last) != string(end(int(bytes))) || bytes <= 0 || at < int64(beginBytes) {
		return 0, 0, errCut
	}
	return at, bytes, nil
}

// readIndex is the text of the index.
func readIndex(from io.ReaderAt, at, bytes int64) ([]byte, error) {
	if bytes > indexMost {
		return nil, damaged(fmt.Errorf("an index of %d bytes", bytes))
	}
	packed := make([]byte, bytes)
	if _, err := from.ReadAt(packed, at); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(indexMost))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	text, err := decoder.DecodeAll(packed, nil)
	if err != nil {
		return nil, damaged(err)
	}
	return text, nil
}

func damaged(err error) error { return fmt.Errorf("it is damaged: %w", err) }
