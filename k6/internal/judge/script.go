// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"bytes"
	"encoding/json"

	"windtunnel/k6/internal/record"
)

// EvidenceOf decodes a script's evidence, and adds the usage of the machine that the record's process has asked the sidecar for. An
// unknown field of the script is an error.
func EvidenceOf(script []byte, r *record.Record) (e Evidence, err error) {
	decoder := json.NewDecoder(bytes.NewReader(script))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		return e, err
	}
	machine, err := json.Marshal(r.Watched())
	if err != nil {
		return e, err
	}
	return e, json.Unmarshal(machine, &e)
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
