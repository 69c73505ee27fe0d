// SPDX-License-Identifier: AGPL-3.0-only

// Package record is the module k6/x/windtunnel/record, with which a script records its measurements. It feeds k6's
// metrics, so that thresholds, outputs and the web dashboard work as usual, and keeps every sample for the result.
// lib/globals.d.ts has its types.
package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/modules"
	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/jsvalue"
	"windtunnel/k6/internal/kinds"
	"windtunnel/k6/internal/record"
)

const ImportPath = "k6/x/windtunnel/record"

func init() {
	modules.Register(ImportPath, exportsOf(record.OfProcess, newShared()))
}

// exportsOf makes the exports for each VU of this process, with the record and the data that its VUs share.
func exportsOf(own *record.Record, common *shared) jsvalue.Module {
	return func(vu modules.VU) map[string]any {
		i := &instance{Script: jsvalue.Script{Runtime: vu.Runtime, Module: ImportPath}, vu: vu, record: own, shared: common, operations: operationMetrics(vu)}
		all := i.exported()
		for name, export := range all {
			all[name] = vu.Runtime().ToValue(export)
		}
		return all
	}
}

type instance struct {
	jsvalue.Script
	vu         modules.VU
	record     *record.Record
	shared     *shared
	operations *known
	// held are the records of a part of the run, until it is known whether the part counts.
	held  []func() error
	holds bool
}

func (i *instance) exported() map[string]any {
	return map[string]any{
		"Operation":  i.newOperation,
		"Counter":    i.metricClass(metrics.Counter),
		"Gauge":      i.metricClass(metrics.Gauge),
		"Trend":      i.metricClass(metrics.Trend),
		"say":        i.say,
		"said":       i.notes,
		"measured":   i.measured,
		"now":        i.now,
		"exchange":   i.exchange,
		"wholeMs":    ofResponse(i, wholeMs),
		"opened":     ofResponse(i, isFresh),
		"request":    i.request,
		"requestAll": i.requestAll,
		"probes":     i.probes,
		"quantile":   i.quantile,
		"watch":      i.watch,
		"keepLink":   i.keepLink,
		"linkUses":   i.linkUses,
		"hold":       i.hold,
		"release":    i.release,
		"drop":       i.drop,
		"isHeld":     func() bool { return i.holds },
		"once":       i.shared.once,
		"share":      i.shared.share,
		"shared":     i.shared.text,
		"answered":   i.shared.answered,
		"unanswered": i.shared.unanswered,
	}
}

var errOutside = errors.New("nothing can be recorded outside of setup, an iteration and teardown")

// say stores any JSON value under a name until handleSummary.
func (i *instance) say(name string, value sobek.Value) {
	text, err := json.Marshal(value.Export())
	if err != nil {
		i.Must(fmt.Errorf("%s: %w", name, err))
	}
	i.record.Say(name, text)
}

// notes returns the stored values by name, as plain objects.
func (i *instance) notes() sobek.Value { return i.Into(i.record.Said()) }

// measured returns the recorded metrics in the form of k6's summary, by names such as operation_ms{operation:publish}
// with any tags. Metrics that lib/ does not record, such as iterations, come from k6.
func (i *instance) measured(k6Metrics *sobek.Object) *sobek.Object {
	return jsvalue.Metrics(i.Runtime(), k6Metrics, func(name string) map[string]float64 {
		values, _ := i.record.Values(record.Parse(name))
		return values
	})
}

// hold starts to hold the VU's records back until it is known whether their part of the run counts.
func (i *instance) hold() { i.holds, i.held = true, nil }

func (i *instance) drop() { i.holds, i.held = false, nil }

// release makes the held records, and makes later ones at once.
func (i *instance) release() {
	all := i.held
	i.drop()
	for _, make := range all {
		i.Must(make())
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
