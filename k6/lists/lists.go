// SPDX-License-Identifier: AGPL-3.0-only

// Package lists holds data that Go shares with JavaScript or Rust: lib/ and the sidecar read the files themselves.
package lists

import (
	"bytes"
	_ "embed"
	"encoding/json"
)

// Read decodes a list, which is embedded at build time.
func Read[T any](list []byte) (value T) {
	decoder := json.NewDecoder(bytes.NewReader(list))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		panic(err)
	}
	return value
}

// Names are the names of a list that is an object, in its order.
func Names(list []byte) (names []string) {
	decoder := json.NewDecoder(bytes.NewReader(list))
	_, err := decoder.Token()
	for err == nil && decoder.More() {
		var name json.Token
		if name, err = decoder.Token(); err == nil {
			names = append(names, name.(string))
			err = decoder.Decode(new(json.RawMessage))
		}
	}
	if err != nil {
		panic(err)
	}
	return names
}

// ExitCodes are the exit codes, by name.
//
//go:embed exit-codes.json
var ExitCodes []byte

// Kinds are the kinds of errors, by name.
//
//go:embed kinds.json
var Kinds []byte

// Profiles are the loads and durations of runs, by name.
//
//go:embed profiles.json
var Profiles []byte

// Secrets are the forms of secrets that redactors find.
//
//go:embed secrets.json
var Secrets []byte

// Variables are the variables that a user may set.
//
//go:embed variables.json
var Variables []byte
