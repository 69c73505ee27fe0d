// SPDX-License-Identifier: AGPL-3.0-only

package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/run"
)

// freeText are the paths of a result with free text, without list indexes; * stands for every key of an object. In other
// places a secret that is an ordinary word may be legitimate.
var freeText = []string{
	"reasons", "reasons.text", "reasons.all", "notes", "validity.detail", "run.target", "run.title", "run.parameters.*", "run.versions.*",
	"run.testbed.variables.*", "operations.title", "operations.latency_is", "integrity.detail",
	"sections.title", "sections.rows", "sections.finding", "sections.answer", "sections.notes", "sections.headline.*",
	// Paths of a record's evidence.
	"protocols.rows.baseline.detail", "protocols.rows.candidate.detail", "interop.cells.detail",
}

// ResultFile removes secrets from the free text of a result file, and leaves all other bytes unchanged. It rewrites the
// file only if there are any. A file that is not JSON is redacted as text.
func (r *Redactor) ResultFile(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	clean, err := r.result(data)
	if err != nil {
		return r.File(path)
	}
	if bytes.Equal(clean, data) {
		return nil
	}
	return run.WriteFile(path, clean)
}

// result returns a result's JSON with redacted free text. It returns an error for invalid JSON.
func (r *Redactor) result(data []byte) ([]byte, error) {
	w := resultWalk{redactor: r, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	if err := w.value(nil); err != nil {
		return nil, err
	}
	if _, err := w.dec.Token(); err != io.EOF {
		return nil, io.ErrUnexpectedEOF
	}
	return append(w.clean, data[w.copied:]...), nil
}

type resultWalk struct {
	redactor *Redactor
	data     []byte
	dec      *json.Decoder
	clean    []byte
	copied   int // bytes of data that clean represents
}

func (w *resultWalk) value(place []string) error {
	token, err := w.dec.Token()
	if err != nil {
		return err
	}
	if text, ok := token.(string); ok && isFreeText(place) {
		w.replace(text)
	}
	opened, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	for w.dec.More() {
		inside := place
		if opened == '{' {
			key, err := w.dec.Token()
			if err != nil {
				return err
			}
			inside = append(slices.Clip(place), key.(string)) // the decoder accepts only string keys
		}
		if err := w.value(inside); err != nil {
			return err
		}
	}
	_, err = w.dec.Token()
	return err
}

// replace writes the redacted form of the string that was read last.
func (w *resultWalk) replace(text string) {
	clean := w.redactor.Clean(text)
	if clean == text {
		return
	}
	end := int(w.dec.InputOffset())
	start := end - 1 // of the closing quote; a quote within the string follows an odd number of backslashes
	for start--; w.data[start] != '"' || backslashes(w.data[:start])%2 == 1; start-- {
	}
	w.clean = append(append(w.clean, w.data[w.copied:start]...), plainJSON(clean)...)
	w.copied = end
}

func backslashes(p []byte) int { return len(p) - len(bytes.TrimRight(p, `\`)) }

func isFreeText(place []string) bool {
	path := strings.Join(place, ".")
	return slices.ContainsFunc(freeText, func(pattern string) bool {
		parent, any := strings.CutSuffix(pattern, "*")
		return path == pattern || any && strings.HasPrefix(path, parent)
	})
}

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
