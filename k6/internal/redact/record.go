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

// errClean is of a record without secrets.
var errClean = errors.New("nothing to redact")

// RecordFile rewrites a record without secrets where the free text of its evidence has any. One that cannot be read is
// removed: it might hold them, and nobody could judge it.
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
