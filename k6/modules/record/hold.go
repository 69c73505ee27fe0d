// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"slices"

	"github.com/grafana/sobek"

	"windtunnel/k6/internal/kinds"
)

// hold starts to hold the VU's records back until it is known whether their part of the run counts.
func (i *instance) hold() { i.holds, i.held = true, nil }

// drop discards the held records.
func (i *instance) drop() { i.holds, i.held = false, nil }

// release makes the held records, and makes later ones at once.
func (i *instance) release() {
	all := i.held
	i.drop()
	for _, make := range all {
		i.must(make())
	}
}

// holdsBack reports whether a method of an operation waits. A failure that a busy machine cannot cause releases all records: it is
// evidence against the system, so its part counts.
func (i *instance) holdsBack(method string, given []sobek.Value) bool {
	if slices.Contains([]string{"failure", "failures", "anomaly"}, method) && !kinds.All[given[0].String()].BusyMachine {
		i.release()
	}
	return i.holds
}
