// SPDX-License-Identifier: AGPL-3.0-only

package coordinator

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/record"
)

// What a scenario shows beside its operations, such as a panel's components, is made by its script of figures that must be the
// whole run's. So the runner that tore down first leaves its samples here, a draft; once all others' records are there it asks
// for figures of all, and then sends its record with what it made of them.

// whole are all records at once.
type whole struct {
	parts []judge.Recorded
	*record.Set
}

func (w *whole) close() error { return judge.Close(w.parts) }

// takeDraft keeps the samples of a runner whose record will come later.
func (c *Coordinator) takeDraft(number int, sum string, body io.Reader) error {
	if err := c.of(number, func(*runner) error { return nil }); err != nil {
		return err
	}
	written, err := c.keep(filepath.Join(c.config.Folder, c.config.Name), sum, body)
	if err != nil {
		return err
	}
	err = c.of(number, func(r *runner) error {
		if err := c.dropDraft(r); err != nil {
			return err
		}
		r.draft = written
		c.cleansNoMore(r)
		c.tell()
		return nil
	})
	if err != nil {
		_ = os.Remove(written)
	}
	return err
}

// dropDraft removes what was left, mu held.
func (c *Coordinator) dropDraft(r *runner) error {
	if r.draft == "" {
		return nil
	}
	var closed error
	if c.whole != nil {
		closed = c.whole.close()
		c.whole = nil
	}
	left := r.draft
	r.draft = ""
	return errors.Join(closed, os.Remove(left))
}

// othersThere answers once each runner has left its samples, or never will.
func (c *Coordinator) othersThere(ctx context.Context, number int) (Answer, error) {
	return c.held(ctx, number, func(*runner) (Answer, bool) {
		for _, r := range c.runners {
			if r.record == "" && r.draft == "" && r.gone == "" {
				return Answer{}, false
			}
		}
		return Answer{Done: true}, true
	})
}

// values are those of a metric, as record.Parse reads its name, over the samples of all runners; nil where there is none.
func (c *Coordinator) values(number int, metric string) (found record.Values, err error) {
	err = c.of(number, func(*runner) error {
		if c.whole == nil {
			c.whole = c.openWhole()
		}
		found, _ = c.whole.Values(record.Parse(metric))
		return c.whole.Err()
	})
	return found, err
}

// openWhole opens all that came, mu held. What cannot be read is told when all are judged.
func (c *Coordinator) openWhole() *whole {
	var files []string
	for _, r := range c.runners {
		switch {
		case r.draft != "":
			files = append(files, r.draft)
		case r.record != "":
			files = append(files, r.record)
		}
	}
	parts := judge.Open(files...)
	var records []*record.Record
	for _, part := range parts {
		if part.Lost == "" {
			records = append(records, part.Record)
		}
	}
	return &whole{parts, record.Together(records...)}
}
