// SPDX-License-Identifier: AGPL-3.0-only

package coordinator

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/judge"
)

// mostBytes bounds a record; a record of a thousand million samples is smaller.
const mostBytes = 16 << 30

// take stores a runner's record once. The same record may arrive again, if its sender got no answer. A truncated or
// damaged record is rejected, so that the runner sends it again.
func (c *Coordinator) take(number int, sum string, body io.Reader) error {
	again := false
	err := c.of(number, func(r *runner) error {
		again = r.record != "" && r.sum == sum
		if r.record != "" && !again {
			return conflict("another record of %s is there already", c.name(number))
		}
		return nil
	})
	if err != nil || again {
		return err
	}
	name := judge.FileOf(c.config.Name, number)
	path := filepath.Join(c.config.Folder, name)
	written, err := c.keep(path, sum, body)
	if err != nil {
		return err
	}
	err = c.of(number, func(r *runner) error {
		if r.record != "" && r.sum == sum {
			return os.Remove(written)
		}
		if r.record != "" {
			return conflict("another record of %s is there already", c.name(number))
		}
		if err := os.Rename(written, path); err != nil {
			return err
		}
		r.record, r.sum = path, sum
		c.cleansNoMore(r)
		c.tell()
		return c.dropDraft(r)
	})
	if err != nil {
		_ = os.Remove(written) // a no-op if the file was renamed
	}
	return err
}

// cleansNoMore lets another runner tear down if this runner ended its tear-down without reporting success. The caller
// holds mu.
func (c *Coordinator) cleansNoMore(r *runner) {
	if c.cleaner == r.number && !c.cleaned {
		c.cleaner = 0
	}
}

// keep writes a record beside path and returns the file's path when the record is complete.
func (c *Coordinator) keep(path, sum string, body io.Reader) (written string, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".record-*")
	if err != nil {
		return "", c.notKept(err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	hash, disk := sha256.New(), &disk{file: file}
	_, err = io.Copy(io.MultiWriter(disk, hash), io.LimitReader(body, mostBytes))
	if disk.failed = errors.Join(disk.failed, file.Chmod(0o644), file.Close()); disk.failed != nil {
		return "", c.notKept(disk.failed)
	}
	if err != nil {
		return "", &refusal{http.StatusUnprocessableEntity, fmt.Sprintf("the record was cut short on its way: %v", err)}
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != sum {
		return "", &refusal{http.StatusUnprocessableEntity, fmt.Sprintf("the record was damaged on its way: its SHA-256 is %s, and %s was sent", got, sum)}
	}
	return file.Name(), nil
}

// disk is a file; failed is the error of a write.
type disk struct {
	file   *os.File
	failed error
}

func (d *disk) Write(p []byte) (int, error) {
	n, err := d.file.Write(p)
	d.failed = errors.Join(d.failed, err)
	return n, err
}

// notKept is the answer if the coordinator's disk cannot store a record; sending it again does not help.
func (c *Coordinator) notKept(err error) error {
	return &refusal{http.StatusInsufficientStorage, fmt.Sprintf("the coordinator cannot keep a record: %v", exit.Reason(err))}
}

// Records returns the files that arrived, and the reasons why other records are missing, by runner number.
func (c *Coordinator) Records() (files []string, lost map[int]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lost = map[int]string{}
	for _, r := range c.runners {
		switch {
		case r.record != "":
			files = append(files, r.record)
		case r.gone != "":
			lost[r.number] = r.gone
		default:
			lost[r.number] = "left no record"
		}
	}
	return files, lost
}

// Judge makes the result from all records that arrived. It returns an error if no record can be judged.
func (c *Coordinator) Judge() (found judge.Judged, err error) {
	files, lost := c.Records()
	all := judge.Open(files...)
	defer func() { err = errors.Join(err, judge.Close(all)) }()
	for number := 1; number <= c.config.Runners; number++ {
		if why, ok := lost[number]; ok {
			all = append(all, judge.Lost(number, why))
		}
	}
	return judge.Runners(all)
}
