// SPDX-License-Identifier: AGPL-3.0-only

// Package protocols is the module k6/x/windtunnel/protocols: it reads the protocol matrix for scripts, which cannot list
// a folder. lib/globals.d.ts has its types.
package protocols

import (
	"encoding/json"
	"fmt"

	"go.k6.io/k6/js/modules"

	"windtunnel/k6/internal/jsvalue"
	"windtunnel/k6/internal/protocolrows"
)

const ImportPath = "k6/x/windtunnel/protocols"

func init() {
	modules.Register(ImportPath, jsvalue.Module(func(modules.VU) map[string]any { return map[string]any{"matrix": matrix} }))
}

func matrix(folder string) (string, error) {
	found, err := protocolrows.Read(folder)
	if err != nil {
		return "", fmt.Errorf("testbeds/protocols: %w", err)
	}
	text, err := json.Marshal(found)
	return string(text), err
}
