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
func (i *instance) now(sobek.FunctionCall) sobek.Value {
	execution := lib.GetExecutionState(i.vu.Context())
	if execution == nil {
		i.Must(errors.New("there is no time in the init context"))
	}
	return i.Runtime().ToValue(float64(execution.GetCurrentTestRunDuration()) / float64(time.Millisecond))
}

// wholeMs is the total time of a request by k6 in ms, including a new connection.
// https://grafana.com/docs/k6/latest/javascript-api/k6-http/response/
func (i *instance) wholeMs(call sobek.FunctionCall) sobek.Value {
	t := i.response(call).Timings
	whole := t.Duration
	if t.Connecting != 0 {
		whole += t.Connecting + t.Blocked + t.TLSHandshaking
	}
	return i.Runtime().ToValue(whole)
}

// opened reports whether a request opened a new connection.
func (i *instance) opened(call sobek.FunctionCall) sobek.Value {
	return i.Runtime().ToValue(i.response(call).Timings.Connecting != 0)
}

func (i *instance) response(call sobek.FunctionCall) *http.Response {
	response, ok := call.Argument(0).Export().(*http.Response)
	if !ok {
		i.Must(fmt.Errorf("%s is no answer of k6/http", call.Argument(0)))
	}
	return response
}
