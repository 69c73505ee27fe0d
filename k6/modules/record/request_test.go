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
