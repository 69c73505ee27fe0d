// SPDX-License-Identifier: AGPL-3.0-only

// Package protocols is the module k6/x/windtunnel/protocols: it reads the protocol matrix, whose folder scripts
// cannot list, and the sides. lib/globals.d.ts has its types.
package protocols

import (
	"encoding/json"
	"fmt"

	"go.k6.io/k6/js/modules"

	"windtunnel/k6/internal/jsvalue"
	"windtunnel/k6/internal/protocolrows"
	"windtunnel/k6/internal/sides"
)

const ImportPath = "k6/x/windtunnel/protocols"

func init() {
	modules.Register(ImportPath, jsvalue.Module(func(modules.VU) map[string]any { return map[string]any{"matrix": matrix, "sides": sidesOf} }))
}

func matrix(folder string) (string, error) {
	found, err := protocolrows.Read(folder)
	if err != nil {
		return "", fmt.Errorf("testbeds/protocols: %w", err)
	}
	text, err := json.Marshal(found)
	return string(text), err
}

// sidesOf returns why there are no sides as text: k6 would show a thrown error with a stack.
func sidesOf(root string, given map[string]string) map[string]string {
	found, err := sides.Read(root, func(name string) string { return given[name] })
	if err != nil {
		return map[string]string{"error": err.Error()}
	}
	text, _ := json.Marshal(found) // texts always have JSON
	return map[string]string{"sides": string(text)}
}
