// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"errors"
	"fmt"
	"time"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/modules/k6/http"
	"go.k6.io/k6/lib"
)

// Scripts call these functions for each request. k6's own objects take some µs for each property, because they use
// reflection.

// now is the time since the start of the test in ms, on the clock that all VUs share, like k6's
// exec.instance.currentTestRunDuration.
func (i *instance) now(sobek.FunctionCall) sobek.Value { return i.Runtime().ToValue(i.nowMs()) }

func (i *instance) nowMs() float64 {
	execution := lib.GetExecutionState(i.vu.Context())
	if execution == nil {
		i.Must(errors.New("there is no time in the init context"))
	}
	return float64(execution.GetCurrentTestRunDuration()) / float64(time.Millisecond)
}

// exchange calls a function that sends one request. It returns the response, the status, now() before and after, the
// request's whole time, and whether the request opened a connection, in one call.
func (i *instance) exchange(call sobek.FunctionCall) sobek.Value {
	send, ok := sobek.AssertFunction(call.Argument(0))
	if !ok {
		i.Must(fmt.Errorf("%s is no function", call.Argument(0)))
	}
	startedAt := i.nowMs()
	answer, err := send(sobek.Undefined())
	endedAt := i.nowMs()
	if err != nil {
		panic(err) // the script's own exception, or the end of the run: sobek passes both on
	}
	response := i.response(answer)
	exchanged := i.Runtime().NewObject()
	for _, part := range [...]struct {
		name  string
		value any
	}{
		{"response", answer}, {"status", response.Status}, {"startedAt", startedAt}, {"endedAt", endedAt},
		{"ms", wholeMs(response)}, {"fresh", isFresh(response)},
	} {
		_ = exchanged.Set(part.name, part.value)
	}
	return exchanged
}

// wholeMs is the total time of a request by k6 in ms, including a new connection.
// https://grafana.com/docs/k6/latest/javascript-api/k6-http/response/
func wholeMs(response *http.Response) float64 {
	t := response.Timings
	if t.Connecting == 0 {
		return t.Duration
	}
	return t.Duration + t.Connecting + t.Blocked + t.TLSHandshaking
}

// isFresh reports whether a request opened a new connection.
func isFresh(response *http.Response) bool { return response.Timings.Connecting != 0 }

// ofResponse makes a function of a figure of an answer.
func ofResponse[T any](i *instance, figure func(*http.Response) T) func(sobek.FunctionCall) sobek.Value {
	return func(call sobek.FunctionCall) sobek.Value {
		return i.Runtime().ToValue(figure(i.response(call.Argument(0))))
	}
}

func (i *instance) response(answer sobek.Value) *http.Response {
	response, ok := answer.Export().(*http.Response)
	if !ok {
		i.Must(fmt.Errorf("%s is no answer of k6/http", answer))
	}
	return response
}
