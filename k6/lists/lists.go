// SPDX-License-Identifier: AGPL-3.0-only

// Package lists holds what Go and JavaScript both know, as data: lib/ reads the files themselves.
package lists

import _ "embed"

// Kinds are the kinds of errors, by name.
//
//go:embed kinds.json
var Kinds []byte

// Profiles are how hard and how long a run may be, by name.
//
//go:embed profiles.json
var Profiles []byte

// Variables are those that a user may set.
//
//go:embed variables.json
var Variables []byte
