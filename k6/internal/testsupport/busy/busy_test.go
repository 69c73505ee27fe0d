// SPDX-License-Identifier: AGPL-3.0-only

package busy

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestASecondInTenOfAllCPUsIsBusyAndSoIsABurst(t *testing.T) {
	of := func(used ...float64) Busy {
		var parts []part
		for _, others := range used {
			parts = append(parts, part{1, others})
		}
		return judged(parts, 2)
	}
	for want, got := range map[Busy]Busy{
		{3.125, 12.5, false}: of(0.25, 0, 0, 0),
		{12.5, 12.5, true}:   of(0.25, 0.25),
		{6.25, 50, true}:     of(0, 0, 0, 0, 0, 0, 0, 1),
	} {
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	// Ticks are coarse: less than nothing is nothing, and a part of a second is no burst.
	if found := judged([]part{{10, -0.2}, {0.02, 0.04}}, 2); found.Busy {
		t.Errorf("%+v", found)
	}
}

// begins starts a program that ends with the test.
func begins(t *testing.T, name string, args ...string) int {
	t.Helper()
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

func TestWhatATestBurnsIsNoExcuseAndWhatOthersBurnIs(t *testing.T) {
	idle, cpus := begins(t, "sleep", "60"), count()
	began := time.Now()
	mine, ofIdle := watch(os.Getpid()), watch(idle)
	burners := map[int]bool{}
	for range cpus {
		burners[begins(t, "sh", "-c", "while :; do :; done")] = true
	}
	burnt := 0.0
	// On a busy machine they get little. Ticks are coarse.
	if !Until(20*time.Second, func() bool {
		burnt = 0
		for _, one := range processes() {
			if burners[one.pid] {
				burnt += one.ticks / ticksPerS
			}
		}
		return burnt > 0.5 && time.Since(began) > 2500*time.Millisecond
	}) {
		t.Fatalf("they burnt %v s only", burnt)
	}
	// For the idle process, all that this test burns is of others.
	others, own := ofIdle(), mine()
	if !others.Busy || others.Most < 40 {
		t.Errorf("a burst on each CPU: %+v", others)
	}
	between := (others.Percent - own.Percent) / 100 * time.Since(began).Seconds() * float64(cpus)
	if between < 0.8*burnt {
		t.Errorf("%.2f s of %.2f s that this test burnt: %+v, for an idle process %+v", between, burnt, own, others)
	}
}

func TestAMemberStaysOnesOwnWithoutItsParent(t *testing.T) {
	mine := own{root: os.Getpid()}
	out, err := exec.Command("sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!; sleep 0").Output()
	if err != nil {
		t.Fatal(err)
	}
	var orphan int
	if _, err := fmt.Sscan(string(out), &orphan); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(orphan, syscall.SIGKILL) })
	has := func() bool {
		mine.ticks()
		for _, one := range mine.seen {
			if one.pid == orphan {
				return true
			}
		}
		return false
	}
	if has() {
		t.Skip("this process takes orphans in")
	}
	// As if it had been seen while its parent lived.
	for key, one := range processes() {
		if one.pid == orphan {
			mine.seen[key] = one
		}
	}
	if !has() {
		t.Error("the orphan is not the test's own any more")
	}
}

// tries runs a body that is late until a try. used returns the percent of the machine that others use in a try.
func tries(until int, used func(try int) float64) (try int, failure, skipped string) {
	watch := func() func() Busy {
		return func() Busy { return Busy{used(try), used(try), used(try) > 10} }
	}
	failure, skipped = undisturbed(func(timely Timely) {
		try++
		timely(try >= until, "late %d", try)
	}, watch, func() bool { return false })
	return try, failure, skipped
}

func TestOnlyABusyMachineExcusesATime(t *testing.T) {
	always := func(percent float64) func(int) float64 { return func(int) float64 { return percent } }
	for name, c := range map[string]struct {
		until   int
		used    func(int) float64
		tries   int
		failure string
		skipped string
	}{
		"holds at once":             {until: 1, used: always(0), tries: 1},
		"holds in a third try":      {until: 3, used: always(90), tries: 3},
		"never, quiet":              {until: 99, used: always(0), tries: 1, failure: "not in time: late 1"},
		"never, quiet in one try":   {until: 99, used: func(try int) float64 { return 90 - 89*float64(try/4) }, tries: 4, failure: "not in time: late 4"},
		"never, busy in each try":   {until: 99, used: always(37), tries: 5, skipped: "the machine was busy (37 % used by others, at most 37 %): late 5"},
		"a third try, quiet before": {until: 3, used: always(1), tries: 1, failure: "not in time: late 1"},
	} {
		got, failure, skipped := tries(c.until, c.used)
		if got != c.tries || failure != c.failure || skipped != c.skipped {
			t.Errorf("%s: %d tries, %q, %q", name, got, failure, skipped)
		}
	}
}

func TestAFailureThatIsNoTimeIsNotExcused(t *testing.T) {
	busy := func() func() Busy { return func() Busy { return Busy{90, 90, true} } }
	late := func(timely Timely) { timely(false, "late") }
	if failure, skipped := undisturbed(late, busy, func() bool { return true }); failure != "not in time: late" || skipped != "" {
		t.Errorf("%q, %q", failure, skipped)
	}
	defer func() {
		if caught := recover(); caught != "a fault" {
			t.Errorf("caught %v", caught)
		}
	}()
	_, _ = undisturbed(func(Timely) { panic("a fault") }, busy, func() bool { return false })
}

func TestAWaitGrowsAsTheMachineBecomesSlower(t *testing.T) {
	at, slow := time.Unix(0, 0), 1.0
	now, measure := func() time.Time { return at }, func() float64 { return slow }
	first := patience(time.Second, now, 1, measure)
	at, slow = at.Add(25*time.Second), 3
	if first() {
		t.Error("three times as slow is no reason to wait for 25 times as long")
	}
	second := patience(time.Second, now, 1, measure)
	at, slow = at.Add(8*time.Second), 9
	if !second() {
		t.Error("nine times as slow: 8 s are not too long")
	}
	at = at.Add(1001 * time.Millisecond)
	if second() {
		t.Error("9 s are over")
	}
	if slow := slowness(); slow < 1 || slow > 10 {
		t.Errorf("%v times as slow", slow)
	}
}

func TestAContextEndsAfterItsTime(t *testing.T) {
	ctx, cancel := Context(t.Context(), 10*time.Millisecond)
	defer cancel()
	<-ctx.Done() // else the test never ends
	if !Until(time.Second, func() bool { return true }) || Until(time.Millisecond, func() bool { return false }) {
		t.Error("a condition that holds is not waited for, and one that never holds ends a wait")
	}
	if text := (Busy{12.4, 50, true}).String(); !strings.HasPrefix(text, "the machine was busy (12 % used by others, at most 50 %)") {
		t.Error(text)
	}
}
