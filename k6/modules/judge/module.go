// SPDX-License-Identifier: AGPL-3.0-only

// Package judge is the module k6/x/windtunnel/judge: it passes a script's evidence to the judge, internal/judge.
// lib/globals-judge.d.ts has its types.
package judge

import (
	"encoding/json"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/modules"

	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/jsvalue"
	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
)

const ImportPath = "k6/x/windtunnel/judge"

func init() {
	modules.Register(ImportPath, jsvalue.Module(exports))
}

type instance struct{ jsvalue.Script }

func exports(vu modules.VU) map[string]any {
	i := instance{jsvalue.Script{Runtime: vu.Runtime, Module: ImportPath}}
	return map[string]any{
		"carries":      judge.Carries,
		"thresholds":   i.thresholds,
		"judge":        i.judge,
		"recordOf":     i.recordOf,
		"disturbances": i.disturbances,
		"undecided":    i.undecided,
	}
}

func (i instance) thresholds(asked sobek.Value) sobek.Value {
	return i.Into(decode[judge.Declared](i, asked, document.Strictly).Thresholds())
}

// judge returns to the script the text of the result file and the summary for the terminal.
func (i instance) judge(asked sobek.Value) sobek.Value {
	found, err := judge.Runners([]judge.Recorded{{Evidence: i.evidence(asked), Record: record.OfProcess}})
	i.Must(err)
	text, err := found.File()
	i.Must(err)
	return i.Into(map[string]string{"result": string(text), "text": found.Text()})
}

// recordOf returns to the script the bytes of the record file.
func (i instance) recordOf(asked sobek.Value) sobek.ArrayBuffer {
	file, err := judge.RecordFile(i.evidence(asked), record.OfProcess)
	i.Must(err)
	return i.Runtime().NewArrayBuffer(file)
}

func (i instance) evidence(asked sobek.Value) judge.Evidence {
	evidence, err := judge.EvidenceOf(i.OutOf(asked), record.OfProcess)
	i.Must(err)
	return evidence
}

func (i instance) disturbances(byCPU, placement sobek.Value) sobek.Value {
	return i.Into(judge.Disturbances(decode[[]judge.CPUUsage](i, byCPU, json.Unmarshal), decode[*result.Placement](i, placement, json.Unmarshal)))
}

func (i instance) undecided(rows sobek.Value) sobek.Value {
	return i.Into(judge.Undecided(decode[[]judge.ProtocolRow](i, rows, json.Unmarshal)))
}

// decode decodes a script's value. An unreadable value is an exception in the script. An unknown field is one only in the script's own
// data, and not in data that it passes on from other programs.
func decode[T any](i instance, value sobek.Value, read func([]byte, any) error) (asked T) {
	if sobek.IsUndefined(value) || sobek.IsNull(value) {
		return asked
	}
	i.Must(read(i.OutOf(value), &asked))
	return asked
}
