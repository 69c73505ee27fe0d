// SPDX-License-Identifier: AGPL-3.0-only

package redact

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/record"
)

func TestARecordKeepsAllButItsFreeText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pulsar-ingest.record")
	write := func(evidence string) []byte {
		r := record.New()
		r.Series("operation_ms", metrics.Trend, map[string]string{"operation": "hunter22"}).Add(1.5)
		var file bytes.Buffer
		if err := r.Write(&file, []byte(evidence)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return file.Bytes()
	}
	redactor := New([]string{"hunter22"})

	write(`{"run":{"target":"http://u:hunter22@h"},"operations":[{"name":"hunter22"}],"notes":["hunter22"],` +
		`"protocols":{"rows":[{"row":"hunter22","baseline":{"detail":"said hunter22"}}]},"interop":[{"cells":[{"detail":"hunter22"}]}],` +
		`"sections":[{"notes":["hunter22"],"rows":[["hunter22",{"value":1}]]}]}`)
	if err := redactor.RecordFile(path); err != nil {
		t.Fatal(err)
	}
	clean, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	kept, evidence, err := record.Read(bytes.NewReader(clean), int64(len(clean)))
	if err != nil {
		t.Fatal(err)
	}
	if found := strings.Count(string(evidence), "hunter22"); found != 2 {
		t.Errorf("the names of an operation and of a row are all that may stay: %s", evidence)
	}
	if values, _ := kept.Values("operation_ms", nil); values["max"] != 1.5 {
		t.Error(values)
	}

	before := write(`{"notes":["nothing"]}`)
	if err := redactor.RecordFile(path); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(after, before) {
		t.Error("a record without secrets is another file")
	}

	if err := os.WriteFile(path, before[:len(before)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := redactor.RecordFile(path); err == nil {
		t.Error("half a record is no error")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("what cannot be redacted is still there")
	}
}
