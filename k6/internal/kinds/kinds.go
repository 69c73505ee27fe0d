// SPDX-License-Identifier: AGPL-3.0-only

// Package kinds has the kinds of errors of an operation, by name. k6/lists/kinds.json is the only list; lib/errors.js
// reads it too, and a test compares the sidecar's names with it.
package kinds

import (
	"strings"

	"windtunnel/k6/lists"
)

// Kind describes a kind of error.
type Kind struct {
	// Says is what happened, and what to do about it if anything helps.
	Says string `json:"says"`
	// ThroughProxy is the text for an operation through a proxy, if the same operation without the proxy was clean: the
	// target is not the cause.
	ThroughProxy string `json:"through_proxy"`
	// AtSetUp is what to do if the set-up of a data plane has this error.
	AtSetUp string `json:"at_set_up"`
	// OwnLimit says that the error is a limit of the generator, which is no evidence about the system under test.
	OwnLimit bool `json:"own_limit"`
	// BusyMachine says that a machine busy with other programs can cause the error. All other kinds are evidence against
	// the system under test.
	BusyMachine bool `json:"busy_machine"`
}

// All has the kinds by name.
var All = lists.Read[map[string]Kind](lists.Kinds)

// Names has the names of all kinds, in the order of the list.
var Names = lists.Names(lists.Kinds)

// Explain describes a kind of error. through says that the error occurred only through a proxy, not without it.
func Explain(kind string, through bool) string {
	k, ok := All[kind]
	switch {
	case !ok:
		return strings.ReplaceAll(kind, "_", " ")
	case through && k.ThroughProxy != "":
		return k.ThroughProxy
	}
	return k.Says
}
