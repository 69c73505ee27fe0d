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

// Schema identifies the format of a record's file; docs/reference/record.md describes it.
const Schema = "windtunnel.record/2"

// Extension is the extension of a record's file name.
const Extension = ".record"

type header struct {
	Schema   string          `json:"schema"`
	Evidence json.RawMessage `json:"evidence"`
}

type entry struct {
	Metric string             `json:"metric"`
	Kind   metrics.MetricType `json:"kind"`
	Tags   map[string]string  `json:"tags"`
	Count  int64              `json:"count"`
	// For metrics other than trends.
	Sum     float64 `json:"sum,omitempty"`
	Min     float64 `json:"min,omitempty"`
	Max     float64 `json:"max,omitempty"`
	Last    float64 `json:"last,omitempty"`
	Nonzero int64   `json:"nonzero,omitempty"`
	// Blocks are the sizes in bytes of the blocks of samples; the blocks of all series are stored one after the other.
	Blocks []int `json:"blocks,omitempty"`
	// Histogram replaces the samples if there were too many.
	Histogram *histogram `json:"histogram,omitempty"`
}

// histogram replaces too many samples. Sum, Min and Max are exact, in millionths of the metric's unit.
type histogram struct {
	Sum sum   `json:"sum_millionths"`
	Min int64 `json:"min_millionths"`
	Max int64 `json:"max_millionths"`
	// Counts are HdrHistogram's V2 compressed encoding: https://github.com/HdrHistogram/HdrHistogram
	Counts []byte `json:"counts"`
}

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
	indexMost   = 256 << 20 // bytes after decompression: the evidence, and a line for each series
	samplesMost = blockSamples * binary.MaxVarintLen64
)

func skipped(content []byte) []byte {
	frame := binary.LittleEndian.AppendUint32(nil, skippable)
	frame = binary.LittleEndian.AppendUint32(frame, uint32(len(content)))
	return append(frame, content...)
}

func begin() []byte { return skipped([]byte(Schema)) }

// end is the last frame: it has the size in bytes of the preceding index.
func end(index int) []byte { return skipped(binary.LittleEndian.AppendUint64(nil, uint64(index))) }

var (
	// errCut is the error for a file that ends before its last frame.
	errCut = errors.New("it was cut short")
	// errForeign is the error for a file of another format.
	errForeign = errors.New("it is no " + Schema)
)

// readIndex finds and reads a record's index: after all samples, and before the last frame. The samples end where it begins.
func readIndex(from io.ReaderAt, size int64) (at int64, text []byte, err error) {
	first := make([]byte, min(size, int64(beginBytes)))
	if _, err := from.ReadAt(first, 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, nil, err
	}
	switch {
	case string(first) != string(begin()[:len(first)]):
		return 0, nil, errForeign
	case size < int64(beginBytes+endBytes):
		return 0, nil, errCut
	}
	last := make([]byte, endBytes)
	if _, err := from.ReadAt(last, size-int64(endBytes)); err != nil && !errors.Is(err, io.EOF) {
		return 0, nil, err
	}
	bytes := int64(binary.LittleEndian.Uint64(last[frameHead:]))
	at = size - int64(endBytes) - bytes
	switch {
	case string(last) != string(end(int(bytes))) || bytes <= 0 || at < int64(beginBytes):
		return 0, nil, errCut
	case bytes > indexMost:
		return 0, nil, damaged(fmt.Errorf("an index of %d bytes", bytes))
	}
	packed := make([]byte, bytes)
	if _, err := from.ReadAt(packed, at); err != nil && !errors.Is(err, io.EOF) {
		return 0, nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(indexMost))
	if err != nil {
		return 0, nil, err
	}
	defer decoder.Close()
	if text, err = decoder.DecodeAll(packed, nil); err != nil {
		return 0, nil, damaged(err)
	}
	return at, text, nil
}

func damaged(err error) error { return fmt.Errorf("it is damaged: %w", err) }
