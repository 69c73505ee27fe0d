// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"strings"
	"testing"
	"time"

	"go.k6.io/k6/js/modules/k6/http"
	"go.k6.io/k6/lib"
	"go.k6.io/k6/lib/netext/httpext"
)

func TestTheWholeOfARequestHasItsNewConnection(t *testing.T) {
	x := newTest(t)
	for want, timings := range map[string]httpext.ResponseTimings{
		"12.5": {Duration: 12.5, Blocked: 4, TLSHandshaking: 2},
		"19.5": {Duration: 12.5, Connecting: 1, Blocked: 4, TLSHandshaking: 2, LookingUp: 100},
	} {
		if err := x.VU.RuntimeField.Set("response", &http.Response{Response: &httpext.Response{Timings: timings}}); err != nil {
			t.Fatal(err)
		}
		if got := x.run(`String(wholeMs(response))`); got != want {
			t.Errorf("%+v: %s, want %s", timings, got, want)
		}
	}
	if _, err := x.VU.RuntimeField.RunString(`wholeMs({ timings: { duration: 1 } })`); err == nil || !strings.Contains(err.Error(), "no answer of k6/http") {
		t.Error(err)
	}
}

func TestAnExchangeHasItsResponseTimesAndConnection(t *testing.T) {
	x := newTest(t)
	x.begin()
	tuple, err := lib.NewExecutionTuple(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	state := lib.NewExecutionState(nil, tuple, 1, 1)
	x.VU.CtxField = lib.WithExecutionState(x.VU.CtxField, state)
	state.MarkStarted()
	timings := httpext.ResponseTimings{Duration: 12.5, Connecting: 1, Blocked: 4, TLSHandshaking: 2}
	send := func() *http.Response {
		time.Sleep(3 * time.Millisecond)
		return &http.Response{Response: &httpext.Response{Status: 207, Timings: timings}}
	}
	if err := x.VU.RuntimeField.Set("send", send); err != nil {
		t.Fatal(err)
	}
	got := x.run(`const before = now();
		const one = exchange(send);
		[one.status, one.response.status, one.ms, one.fresh, one.startedAt >= before, one.endedAt - one.startedAt >= 3, one.endedAt <= now()].join()`)
	if got != "207,207,19.5,true,true,true,true" {
		t.Error(got)
	}
	for script, want := range map[string]string{
		`exchange(() => { throw new Error("mine") })`: "mine",
		`exchange(() => 7)`:                           "7 is no answer of k6/http",
		`exchange(7)`:                                 "7 is no function",
	} {
		if got := x.run(`try { ` + script + `; "nothing" } catch (error) { error.message }`); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
	if err := x.VU.RuntimeField.Set("end", func() { x.VU.RuntimeField.Interrupt("the run ends") }); err != nil {
		t.Fatal(err)
	}
	_, err = x.VU.RuntimeField.RunString(`try { exchange(() => { end(); for (;;) { } }) } catch { } "caught"`)
	if err == nil || !strings.Contains(err.Error(), "the run ends") {
		t.Errorf("an exchange that the end of the run interrupts: %v", err)
	}
}

func TestTimeIsThatOfTheTest(t *testing.T) {
	x := newTest(t)
	if _, err := x.VU.RuntimeField.RunString(`now()`); err == nil || !strings.Contains(err.Error(), "there is no time in the init context") {
		t.Error(err)
	}
	x.begin()
	tuple, err := lib.NewExecutionTuple(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	state := lib.NewExecutionState(nil, tuple, 1, 1)
	x.VU.CtxField = lib.WithExecutionState(x.VU.CtxField, state)
	if got := x.run(`String(now())`); got != "0" {
		t.Errorf("before the test began: %s", got)
	}
	state.MarkStarted()
	time.Sleep(2 * time.Millisecond)
	if got := x.run(`const first = now(); [first >= 2, first % 1 !== 0, now() >= first].join()`); got != "true,true,true" {
		t.Error(got)
	}
}
