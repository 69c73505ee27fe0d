// SPDX-License-Identifier: AGPL-3.0-only

// Package jsvalue passes values between Go and a script as JSON, so that both sides have plain data.
package jsvalue

import (
	"encoding/json"
	"errors"

	"github.com/grafana/sobek"
)

// Into converts a Go value to a script's value.
func Into(rt *sobek.Runtime, value any) (sobek.Value, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return call(rt, "parse", rt.ToValue(string(text)))
}

// OutOf returns a script's value as JSON. Undefined values are left out, NaN and infinity become null.
func OutOf(rt *sobek.Runtime, value sobek.Value) ([]byte, error) {
	text, err := call(rt, "stringify", value)
	if err != nil {
		return nil, err
	}
	if sobek.IsUndefined(text) {
		return nil, errors.New("it has no JSON")
	}
	return []byte(text.String()), nil
}

func call(rt *sobek.Runtime, name string, argument sobek.Value) (sobek.Value, error) {
	function, ok := sobek.AssertFunction(rt.GlobalObject().Get("JSON").ToObject(rt).Get(name))
	if !ok {
		return nil, errors.New("JSON." + name + " is no function")
	}
	return function(sobek.Undefined(), argument)
}
