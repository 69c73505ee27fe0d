package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const mib = 1 << 20

// fault says how a proxy differs from an honest one. A nil function changes nothing.
type fault struct {
	// opened is called for each CONNECT.
	opened func()
	// request is called for each piece and each datagram from the client.
	request func()
	// upload and download may change a payload in place.
	upload, download func([]byte) []byte
	// alone: the proxy echoes, and never dials.
	alone bool
}

// options come from the command line.
type options struct {
	mode                         string
	bytes, oneIn, us, kib, after int
	descriptor                   bool
}

var makers = map[string]func(options) fault{
	"honest":     func(options) fault { return fault{} },
	"corrupt":    corrupting,
	"drop-bytes": func(options) fault { return fault{upload: dropping(mib), download: dropping(mib)} },
	"echo":       func(options) fault { return fault{alone: true} },
	"defer":      deferring,
	"leak":       leaking,
	"slow-later": slowing,
}

func modes() []string { return slices.Sorted(maps.Keys(makers)) }

func (asked options) fault() (fault, error) {
	maker, known := makers[asked.mode]
	if !known {
		return fault{}, fmt.Errorf("mode %q is none of %v", asked.mode, modes())
	}
	return maker(asked), nil
}

// corrupting changes the last byte of every n-th upload, counted over all connections.
func corrupting(asked options) fault {
	var passed atomic.Int64
	return fault{upload: func(payload []byte) []byte {
		if len(payload) >= asked.bytes && passed.Add(1)%int64(asked.oneIn) == 0 {
			payload[len(payload)-1] ^= 1
		}
		return payload
	}}
}

// dropping removes one byte from every `each` bytes, counted over all connections.
func dropping(each int64) func([]byte) []byte {
	var passed atomic.Int64
	return func(piece []byte) []byte {
		count := int64(len(piece))
		now := passed.Add(count)
		if now/each == (now-count)/each {
			return piece
		}
		return piece[:count-1]
	}
}

// deferring uses CPU for each request later, while the proxy is idle.
func deferring(asked options) fault {
	const (
		idle  = 10 * time.Millisecond
		slice = time.Millisecond
	)
	var owed, last atomic.Int64
	start := time.Now()
	go func() {
		for {
			time.Sleep(slice)
			for owed.Load() > 0 && time.Since(start)-time.Duration(last.Load()) > idle {
				owed.Add(-int64(slice))
				burn(slice)
			}
		}
	}()
	price := int64(asked.us) * int64(time.Microsecond)
	return fault{request: func() {
		last.Store(int64(time.Since(start)))
		owed.Add(price)
	}}
}

// leaking never frees memory of a connection, nor its descriptor if one is asked for.
func leaking(asked options) fault {
	var lock sync.Mutex
	var kept [][]byte
	var files []*os.File
	return fault{opened: func() {
		memory := bytes.Repeat([]byte{1}, asked.kib<<10)
		lock.Lock()
		defer lock.Unlock()
		kept = append(kept, memory)
		if !asked.descriptor {
			return
		}
		if file, err := os.Open(os.DevNull); err == nil {
			files = append(files, file)
		}
	}}
}

// slowing uses CPU for each request after the first ones.
func slowing(asked options) fault {
	var passed atomic.Int64
	return fault{request: func() {
		if passed.Add(1) > int64(asked.after) {
			burn(time.Duration(asked.us) * time.Microsecond)
		}
	}}
}
