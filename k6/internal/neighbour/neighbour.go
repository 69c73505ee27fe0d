// SPDX-License-Identifier: AGPL-3.0-only

// Package neighbour prevents two benches on one machine from disturbing each other's measurement.
package neighbour

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"windtunnel/k6/internal/cpus"
	"windtunnel/k6/internal/exit"
)

// Two benches on the same CPUs would disturb each other. So each bench holds a name in the host's abstract socket
// namespace (unix(7)) while it runs. The kernel frees the name however the bench ends, it needs no file and no rights,
// and other users see it too. A client that connects gets the description of the bench. Containers with separate
// networks do not see each other.

const (
	claimSlots   = 16
	claimTimeout = time.Second
)

// claimPrefix is the prefix of the names; the @ makes them abstract.
var claimPrefix = "@windtunnel-bench"

// Apart gives the benches of this process a separate prefix, so that benches of a test do not affect others.
func Apart(prefix string) { claimPrefix = prefix }

func claimName(slot int) string { return fmt.Sprintf("%s-%d", claimPrefix, slot) }

// neighbour is another bench on this machine. CPUs are the CPUs that it may use.
type neighbour struct {
	PID    int    `json:"pid"`
	Folder string `json:"folder"`
	CPUs   []int  `json:"cpus"`
}

// Claim is held while a bench runs; the zero value holds nothing.
type Claim struct{ listener net.Listener }

// Release lets the next bench run.
func (c Claim) Release() {
	if c.listener != nil {
		c.listener.Close()
	}
}

// claimHost takes a free name, and finds the benches that hold other names. If no name is free, the claim is empty.
func claimHost(self neighbour) (c Claim, others []neighbour) {
	for slot := range claimSlots {
		if c.listener == nil {
			listener, err := net.Listen("unix", claimName(slot))
			if err == nil {
				c.listener = listener
				go sendTo(listener, self)
				continue
			}
		}
		if other, ok := holderOf(slot); ok {
			others = append(others, other)
		}
	}
	return c, others
}

func sendTo(listener net.Listener, self neighbour) {
	data, _ := json.Marshal(self)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_ = conn.SetDeadline(time.Now().Add(claimTimeout))
		_, _ = conn.Write(data)
		conn.Close()
	}
}

// holderOf asks the holder of a slot to describe itself. The pid comes from the kernel, so even a holder that does not
// answer is known.
func holderOf(slot int) (n neighbour, ok bool) {
	conn, err := net.DialTimeout("unix", claimName(slot), claimTimeout)
	if err != nil {
		return n, false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(claimTimeout))
	data, _ := io.ReadAll(io.LimitReader(conn, 64<<10))
	_ = json.Unmarshal(data, &n)
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return n, false
	}
	_ = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			n.PID = int(peer.Pid)
		}
	})
	return n, n.PID != 0
}

// disturbs reports whether a bench may use one of these CPUs. It ignores this process and the processes that started it.
func (n neighbour) disturbs(cpus []int) bool {
	if n.PID == os.Getpid() || slices.Contains(ancestors(os.Getpid()), n.PID) {
		return false
	}
	return len(n.CPUs) == 0 || len(cpus) == 0 || slices.ContainsFunc(n.CPUs, func(cpu int) bool { return slices.Contains(cpus, cpu) })
}

// ancestors returns the parents of a process, the nearest first.
func ancestors(pid int) (found []int) {
	for pid > 1 && len(found) < 100 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if err != nil || len(fields) < 2 {
			return found
		}
		pid, _ = strconv.Atoi(string(fields[1]))
		found = append(found, pid)
	}
	return found
}

// ClaimHost claims the host for a run that writes into folder. It returns a fault if another bench uses the same CPUs,
// unless beside says that the user allows it; then warn gets a line for each such bench.
func ClaimHost(folder string, beside bool, warn func(format string, args ...any)) (Claim, *exit.Fault) {
	self := neighbour{PID: os.Getpid(), Folder: folder, CPUs: cpus.Allowed()}
	held, others := claimHost(self)
	for _, other := range others {
		if !other.disturbs(self.CPUs) {
			continue
		}
		line := fmt.Sprintf("another bench runs on the same CPUs: pid %d in %s; each would measure the other", other.PID, other.folder())
		if !beside {
			held.Release()
			return Claim{}, exit.BadSetup("%s: wait for its end, give each CPUs of its own (taskset), or set BESIDE=1", line)
		}
		warn("%s (BESIDE is set)", line)
	}
	return held, nil
}

func (n neighbour) folder() string { return cmp.Or(n.Folder, "an unknown folder") }

// Others are the benches that run on this machine now, each in words. They do not notice the search.
func Others() (lines []string) {
	for slot := range claimSlots {
		if other, ok := holderOf(slot); ok {
			lines = append(lines, fmt.Sprintf("pid %d in %s", other.PID, other.folder()))
		}
	}
	return lines
}
