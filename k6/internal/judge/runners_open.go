// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"sync"

	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/record"
)

// Open reads the record of each file, and keeps the files open until Close. For a file that is missing, truncated,
// damaged or of another format, the entry has the reason.
func Open(paths ...string) []Recorded {
	all := make([]Recorded, len(paths))
	places := make(chan int, len(paths))
	for place := range paths {
		places <- place
	}
	close(places)
	var readers sync.WaitGroup
	for range min(len(paths), runtime.GOMAXPROCS(0)) {
		readers.Go(func() {
			for place := range places {
				all[place] = open(paths[place])
			}
		})
	}
	readers.Wait()
	return all
}

// Close closes all files.
func Close(all []Recorded) error {
	var failed []error
	for _, one := range all {
		if one.close != nil {
			failed = append(failed, one.close())
		}
	}
	return errors.Join(failed...)
}

// FileOf is the file name of a runner's record, from the name of the run's record, such as pulsar-ingest.
func FileOf(name string, number int) string {
	return fmt.Sprintf("%s.runner-%d%s", name, number, record.Extension)
}

var runnerFile = regexp.MustCompile(`\.runner-([0-9]+)\` + record.Extension + `$`)

func open(path string) Recorded {
	one := Recorded{File: filepath.Base(path)}
	// The name of an unreadable record still has the runner's number.
	if named := runnerFile.FindStringSubmatch(one.File); named != nil {
		one.Number, _ = strconv.Atoi(named[1])
	}
	file, err := os.Open(path)
	if err != nil {
		return one.without(err)
	}
	if err := one.read(file); err != nil {
		_ = file.Close()
		return one.without(err)
	}
	one.close = file.Close
	return one
}

// without says why there is no record, without this machine's path.
func (r Recorded) without(err error) Recorded {
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	r.Lost = err.Error()
	return r
}

func (r *Recorded) read(file *os.File) error {
	hash := sha256.New()
	bytes, err := io.Copy(hash, file)
	if err != nil {
		return err
	}
	r.Bytes, r.SHA256 = bytes, hex.EncodeToString(hash.Sum(nil))
	kept, said, err := record.Read(file, bytes)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(said, &r.Evidence); err != nil {
		return fmt.Errorf("its evidence cannot be read: %w", err)
	}
	r.Record = kept
	if own := r.Evidence.Runner; own != nil {
		r.Number = own.Number
	}
	return nil
}

// EvidenceOf decodes a script's evidence, and adds the usage of the machine that the record's process has asked the sidecar for. An
// unknown field of the script is an error. The rows, and data that the script passes on from the sidecar, may have further fields.
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
