// SPDX-License-Identifier: AGPL-3.0-only

// Package jsvalue passes values between Go and a script as JSON, so that both sides have plain data.
package jsvalue

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/common"
	"go.k6.io/k6/js/modules"
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

// Module makes the exports of a module of k6, once for each VU. k6 asks for them at each access to one.
type Module func(modules.VU) map[string]any

// NewModuleInstance implements modules.Module.
func (m Module) NewModuleInstance(vu modules.VU) modules.Instance { return exports(m(vu)) }

type exports map[string]any

// Exports implements modules.Instance.
func (e exports) Exports() modules.Exports { return modules.Exports{Named: e} }

// Script is the script of a VU, for a module with this import path. An error in its methods is an exception in the script.
type Script struct {
	Runtime func() *sobek.Runtime
	Module  string
}

// Must converts an error, if there is one, to an exception in the script.
func (s Script) Must(err error) {
	if err != nil {
		common.Throw(s.Runtime(), fmt.Errorf("%s: %w", s.Module, err))
	}
}

func (s Script) Into(value any) sobek.Value {
	made, err := Into(s.Runtime(), value)
	s.Must(err)
	return made
}

func (s Script) OutOf(value sobek.Value) []byte {
	text, err := OutOf(s.Runtime(), value)
	s.Must(err)
	return text
}

// Metrics presents metrics like k6's summary, by names such as operation_ms{operation:publish}. It asks once for the values of a
// metric; nil means that k6 has it, such as iterations.
func Metrics(rt *sobek.Runtime, k6 *sobek.Object, values func(name string) map[string]float64) *sobek.Object {
	return rt.NewDynamicObject(&metrics{rt, k6, values, map[string]sobek.Value{}})
}

type metrics struct {
	rt     *sobek.Runtime
	k6     *sobek.Object
	values func(name string) map[string]float64
	known  map[string]sobek.Value
}

func (m *metrics) Get(name string) sobek.Value {
	if known, ok := m.known[name]; ok {
		return known
	}
	values := m.values(name)
	if values == nil {
		return m.k6.Get(name)
	}
	numbers, metric := m.rt.NewObject(), m.rt.NewObject()
	for of, value := range values {
		_ = numbers.Set(of, value)
	}
	_ = metric.Set("values", numbers)
	m.known[name] = metric
	return metric
}

func (m *metrics) Has(name string) bool         { return m.Get(name) != nil }
func (m *metrics) Set(string, sobek.Value) bool { return false }
func (m *metrics) Delete(string) bool           { return false }
func (m *metrics) Keys() []string               { return m.k6.Keys() }
