// SPDX-License-Identifier: AGPL-3.0-only

package busy

import (
	"fmt"
	"testing"
	"time"
)

// Timely asserts a time, a rate, or an order that a time decides. It ends a try if the time does not hold.
// Only the goroutine of the test may call it.
type Timely func(holds bool, format string, values ...any)

type late string

// Undisturbed runs a test's body, again if a time in it does not hold on a busy machine. It fails at once if the machine was
// quiet. It is skipped if the machine was busy in each try. Counts and kinds of errors hold in each try: t fails for them.
func Undisturbed(t *testing.T, body func(Timely)) {
	t.Helper()
	failed, skipped := undisturbed(body, Watch, t.Failed)
	switch {
	case failed != "":
		t.Fatal(failed)
	case skipped != "":
		t.Skip(skipped)
	}
}

func undisturbed(body func(Timely), watch func() func() Busy, failed func() bool) (failure, skipped string) {
	l, began := written(), time.Now()
	for try := 1; ; try++ {
		found, why := once(body, watch())
		switch {
		case why == "":
			return "", ""
		case !found.Busy || failed():
			return "not in time: " + why, ""
		case try >= l.Tries || time.Since(began) >= seconds(l.LastBeginsS):
			return "", fmt.Sprintf("%v: %s", found, why)
		}
	}
}

// once returns how busy others were, and what was late.
func once(body func(Timely), end func() Busy) (found Busy, why string) {
	defer end()
	defer func() {
		caught := recover()
		if caught == nil {
			return
		}
		text, ok := caught.(late)
		if !ok {
			panic(caught)
		}
		found, why = end(), string(text)
	}()
	body(func(holds bool, format string, values ...any) {
		if !holds {
			panic(late(fmt.Sprintf(format, values...)))
		}
	})
	return found, why
}
