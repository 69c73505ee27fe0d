package main

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"strings"
)

// The first frames of each direction are padded: length of the payload (2 bytes), length of the padding (1 byte),
// payload, padding. See "Padding protocol" in the README of klzgrad/naiveproxy.
const (
	paddedFrames   = 8
	frameHeader    = 3
	largestPayload = 1<<16 - 1
	largestPadding = 1<<8 - 1
)

// paddingHeader makes the header that offers padding, of a length that varies.
func paddingHeader() string {
	return strings.Repeat("~", 30+rand.IntN(32))
}

type paddedWriter struct {
	to     io.Writer
	frames int
}

func (w *paddedWriter) Write(data []byte) (int, error) {
	written := 0
	for len(data) > 0 && w.frames < paddedFrames {
		payload := data[:min(len(data), largestPayload)]
		padding := rand.IntN(largestPadding + 1)
		frame := make([]byte, frameHeader+len(payload)+padding)
		binary.BigEndian.PutUint16(frame, uint16(len(payload)))
		frame[2] = byte(padding)
		copy(frame[frameHeader:], payload)
		if _, err := w.to.Write(frame); err != nil {
			return written, err
		}
		w.frames++
		written += len(payload)
		data = data[len(payload):]
	}
	if len(data) == 0 {
		return written, nil
	}
	rest, err := w.to.Write(data)
	return written + rest, err
}

type paddedReader struct {
	from    io.Reader
	frames  int
	payload int
	padding int
}

func (r *paddedReader) Read(data []byte) (int, error) {
	for r.payload == 0 {
		if _, err := io.CopyN(io.Discard, r.from, int64(r.padding)); err != nil {
			return 0, err
		}
		r.padding = 0
		if r.frames == paddedFrames {
			return r.from.Read(data)
		}
		var header [frameHeader]byte
		if _, err := io.ReadFull(r.from, header[:]); err != nil {
			return 0, err
		}
		r.frames++
		r.payload = int(binary.BigEndian.Uint16(header[:]))
		r.padding = int(header[2])
	}
	count, err := r.from.Read(data[:min(len(data), r.payload)])
	r.payload -= count
	return count, err
}
