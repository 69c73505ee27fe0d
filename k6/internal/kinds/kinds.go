// SPDX-License-Identifier: AGPL-3.0-only

// Package kinds knows what can go wrong with an operation, by name: k6/lists/kinds.json is the one list, which lib/errors.js reads
// as well, and against which the sidecar's names are tested.
package kinds

import (
	"bytes"
	"encoding/json"
	"strings"

	"windtunnel/k6/lists"
)

// Kind is what a kind of error means.
type Kind struct {
	// Says what happened, and what to do about it where there is something.
	Says string `json:"says"`
	// ThroughProxy says it of an operation through a proxy, where the same without it was clean: the target is not to blame.
	ThroughProxy string `json:"through_proxy"`
	// AtSetUp is what to do where the set-up of a data plane meets it.
	AtSetUp string `json:"at_set_up"`
	// OwnLimit is a limit of the generator's own, which says nothing of the system under test.
	OwnLimit bool `json:"own_limit"`
	// BusyMachine: a machine that other programs keep busy can cause the error. All other kinds are evidence against the system under test.
	BusyMachine bool `json:"busy_machine"`
}

// All are the kinds, by name.
var All = func() (all map[string]Kind) {
	if err := json.Unmarshal(lists.Kinds, &all); err != nil {
		panic(err)
	}
	return all
}()

// Names are those of all kinds, in the order of the list.
var Names = func() (names []string) {
	list := json.NewDecoder(bytes.NewReader(lists.Kinds))
	if _, err := list.Token(); err != nil {
		panic(err)
	}
	for list.More() {
		name, err := list.Token()
		if err != nil {
			panic(err)
		}
		names = append(names, name.(string))
		var kind json.RawMessage
		if err := list.Decode(&kind); err != nil {
			panic(err)
		}
	}
	return names
}()

// Explain says in words what a kind of error is; through says that it met what goes through a proxy, and not the same
// without it.
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
