// SPDX-License-Identifier: AGPL-3.0-only

package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"

	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/run"
)

// errClean means that a record has no secrets.
var errClean = errors.New("nothing to redact")

// RecordFile removes secrets from the free text of a record's evidence. It rewrites the file only if there are any. It
// deletes an unreadable record: the record might contain secrets, and cannot be judged anyway.
func (r *Redactor) RecordFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	var clean bytes.Buffer
	err = record.Rewrite(file, info.Size(), &clean, func(evidence json.RawMessage) (json.RawMessage, error) {
		redacted, err := r.result(evidence)
		if err == nil && bytes.Equal(redacted, evidence) {
			err = errClean
		}
		return redacted, err
	})
	switch {
	case errors.Is(err, errClean):
		return nil
	case err != nil:
		return errors.Join(err, os.Remove(path))
	}
	return run.WriteFile(path, clean.Bytes())
}
