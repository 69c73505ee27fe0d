// SPDX-License-Identifier: AGPL-3.0-only

// Package baton lets the loads of two runs follow each other while both systems are up. A load runs only while its run holds
// the baton.
//
// Each run connects to the keeper's Unix socket. Messages are lines: a run sends its side (0 or 1) when it is set up, and `ended`
// after its load; the keeper sends `go` to begin the load and `over` when both loads have ended.
package baton

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// Variable of a run has its side and the path of the keeper's socket: SIDE@PATH.
const Variable = "BATON"

const (
	goOn  = "go"
	ended = "ended"
	over  = "over"
)

// state is what a run does now.
type state int

const (
	absent state = iota // it sets up
	ready               // its load may begin
	loads               // it holds the baton
	idle                // its load has ended, and it waits for the other load
	gone                // it has left
)

// Keeper gives the baton to one run, and then to the other.
type Keeper struct {
	folder   string
	listener net.Listener
	first    int // the side whose load is first

	mu     sync.Mutex
	states [2]state
	runs   [2]net.Conn
}

// Keep opens a socket in a temporary folder. The load of the side first is first.
func Keep(first int) (*Keeper, error) {
	folder, err := os.MkdirTemp("", "windtunnel-baton-")
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", filepath.Join(folder, "socket"))
	if err != nil {
		_ = os.RemoveAll(folder)
		return nil, err
	}
	k := &Keeper{folder: folder, listener: listener, first: first}
	go k.accept()
	return k, nil
}

// Of is the value of Variable for a side.
func (k *Keeper) Of(side int) string { return fmt.Sprintf("%d@%s", side, k.listener.Addr()) }

// Gone says that a side's run has ended, or could not begin. The other one needs no turns then.
func (k *Keeper) Gone(side int) { k.change(side, gone) }

// Close ends all connections and removes the socket.
func (k *Keeper) Close() {
	_ = k.listener.Close()
	k.mu.Lock()
	for _, run := range k.runs {
		if run != nil {
			_ = run.Close()
		}
	}
	k.mu.Unlock()
	_ = os.RemoveAll(k.folder)
}

func (k *Keeper) accept() {
	for {
		run, err := k.listener.Accept()
		if err != nil {
			return
		}
		go k.serve(run)
	}
}

// serve reads a run's messages until the run leaves.
func (k *Keeper) serve(run net.Conn) {
	defer run.Close()
	lines := bufio.NewScanner(run)
	if !lines.Scan() {
		return
	}
	side, err := strconv.Atoi(lines.Text())
	if err != nil || side < 0 || side > 1 {
		return
	}
	k.mu.Lock()
	k.runs[side] = run
	k.mu.Unlock()
	k.change(side, ready)
	for lines.Scan() {
		if lines.Text() == ended {
			k.change(side, idle)
		}
	}
	k.change(side, gone)
}

// change notes what a side does, and gives the baton on.
func (k *Keeper) change(side int, to state) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.states[side] == gone {
		return
	}
	k.states[side] = to
	if k.is(absent) || k.is(loads) {
		return
	}
	for _, next := range [2]int{k.first, 1 - k.first} {
		if k.states[next] == ready {
			k.states[next] = loads
			k.tell(next, goOn)
			return
		}
	}
	for side, state := range k.states {
		if state == idle {
			k.tell(side, over)
		}
	}
}

func (k *Keeper) is(wanted state) bool { return k.states[0] == wanted || k.states[1] == wanted }

// tell sends a line. A run that does not get it has ended, which its connection shows.
func (k *Keeper) tell(side int, line string) { _, _ = k.runs[side].Write([]byte(line + "\n")) }
