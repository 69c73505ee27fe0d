// SPDX-License-Identifier: AGPL-3.0-only

package busy

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	ticksPerS = 100 // USER_HZ of Linux
	kthreadd  = 2
)

// Busy is what others took of all CPUs.
type Busy struct {
	Percent, Most float64 // over the whole time, and in one second of it
	Busy          bool
}

func (b Busy) String() string {
	return fmt.Sprintf("the machine was busy (%.0f %% used by others, at most %.0f %%)", b.Percent, b.Most)
}

// part is a stretch of time, and the CPU time that others took in it.
type part struct{ seconds, others float64 }

// judged decides on stretches of a second or more. Only the last one may be shorter.
func judged(parts []part, of int) (found Busy) {
	l := written()
	percent := func(some ...part) float64 {
		var all part
		for _, one := range some {
			all.seconds += one.seconds
			all.others += max(0, one.others)
		}
		if all.seconds == 0 {
			return 0
		}
		return 100 * all.others / (float64(of) * all.seconds)
	}
	found.Percent = percent(parts...)
	found.Most = found.Percent
	for _, one := range parts {
		if one.seconds >= l.BurstS {
			found.Most = max(found.Most, percent(one))
		}
	}
	found.Busy = found.Percent >= l.BusyPercent || found.Most >= l.BurstPercent
	return found
}

// process is CPU time in ticks: its own, and of all children that it has waited for.
type process struct {
	pid, parent, born int
	ticks, reaped     float64
	waited            bool // its parent waits for it, and so counts it
}

// processes reads all of them, zombies too, since no process has waited for a zombie.
func processes() map[[2]int]process {
	all := map[[2]int]process{}
	folder, err := os.Open("/proc")
	if err != nil {
		return all
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 20 {
			continue
		}
		number := func(at int) int {
			n, _ := strconv.Atoi(fields[at])
			return n
		}
		one := process{pid: pid, parent: number(1), born: number(19), ticks: float64(number(11) + number(12)), reaped: float64(number(13) + number(14))}
		all[[2]int{pid, one.born}] = one
	}
	return all
}

// own counts the ticks of a tree of processes, whose members stay in it when they lose their parent.
type own struct {
	root int
	seen map[[2]int]process
	lost float64 // ticks of members that ended, and that no member has waited for
}

// ticks counts all until now. Kernel threads work for any program, and so count too.
func (o *own) ticks() float64 {
	all := processes()
	pids := map[int]bool{o.root: true}
	for key, one := range o.seen {
		if _, lives := all[key]; lives {
			pids[one.pid] = true
		} else if !one.waited {
			o.lost += one.ticks + one.reaped
		}
	}
	for before := -1; before != len(pids); {
		before = len(pids)
		for _, one := range all {
			if pids[one.parent] {
				pids[one.pid] = true
			}
		}
	}
	o.seen = map[[2]int]process{}
	sum := o.lost
	for key, one := range all {
		if pids[one.pid] {
			one.waited = pids[one.parent] || one.pid == o.root
			o.seen[key] = one
			sum += one.ticks + one.reaped
		} else if one.parent == kthreadd || one.pid == kthreadd {
			sum += one.ticks
		}
	}
	return sum
}

// taken is the ticks that processes and the hypervisor took of all CPUs. A test's own traffic causes interrupts: they are left out.
func taken() (sum float64) {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	for _, at := range []int{1, 2, 3, 8} {
		if at < len(fields) {
			ticks, _ := strconv.ParseFloat(fields[at], 64)
			sum += ticks
		}
	}
	return sum
}

// count is how many CPUs the machine has, not how many this process may use.
func count() (n int) {
	text, _ := os.ReadFile("/proc/stat")
	for line := range strings.Lines(string(text)) {
		if len(line) > 3 && strings.HasPrefix(line, "cpu") && line[3] != ' ' {
			n++
		}
	}
	return n
}

// Watch watches others until its result is called. The process of this test and all that it has started are no others.
func Watch() func() Busy { return watch(os.Getpid()) }

func watch(root int) func() Busy {
	mine := own{root: root}
	var parts []part
	at, before, ownBefore := time.Now(), taken(), mine.ticks()
	closePart := func() {
		now, taken, ticks := time.Now(), taken(), mine.ticks()
		parts = append(parts, part{now.Sub(at).Seconds(), (taken - before - (ticks - ownBefore)) / ticksPerS})
		at, before, ownBefore = now, taken, ticks
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(seconds(written().SampleMS / 1000))
		defer ticker.Stop()
		for {
			select {
			case <-over:
				closePart()
				return
			case <-ticker.C:
				if time.Since(at) >= seconds(written().BurstS) {
					closePart()
				} else {
					mine.ticks() // a child that starts and loses its parent between two parts is seen
				}
			}
		}
	}()
	return sync.OnceValue(func() Busy {
		close(over)
		<-ended
		return judged(parts, count())
	})
}
