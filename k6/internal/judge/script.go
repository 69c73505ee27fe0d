// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"bytes"
	"encoding/json"

	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/record"
)

// EvidenceOf decodes a script's evidence, and adds the usage of the machine that the record's process has asked the sidecar for. An
// unknown field of the script is an error. What the script passes on from the sidecar, and its rows, may have further fields.
func EvidenceOf(script []byte, r *record.Record) (e Evidence, err error) {
	var own struct {
		Evidence
		Usage     json.RawMessage `json:"usage"`
		CPUs      json.RawMessage `json:"cpus"`
		Rows      json.RawMessage `json:"held_by_rows"`
		Link      json.RawMessage `json:"link"`
		Protocols json.RawMessage `json:"protocols"`
	}
	machine, err := json.Marshal(r.Watched())
	if err == nil {
		err = document.Strictly(script, &own)
	}
	if err == nil {
		err = json.Unmarshal(script, &e)
	}
	if err == nil {
		err = json.Unmarshal(machine, &e)
	}
	return e, err
}

// RecordFile returns the bytes of a record's file with its evidence.
func RecordFile(e Evidence, r *record.Record) ([]byte, error) {
	plain, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	err = r.Write(&file, plain)
	return file.Bytes(), err
}
