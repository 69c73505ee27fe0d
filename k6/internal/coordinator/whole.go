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
	"windtunnel/k6/internal/seq"
)

// A script computes some figures itself, such as the shares of a panel's components, and needs figures of the whole run
// for that. So the runner that tore down first sends its samples as a draft. When the records of all other runners have
// arrived, it asks for figures over all samples, and then sends its record with the computed figures.

// whole has all records together.
type whole struct {
	parts []judge.Recorded
	*record.Set
}

func (w *whole) close() error { return judge.Close(w.parts) }

// takeDraft stores the samples of a runner whose record comes later.
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

// dropDraft removes a draft. The caller holds mu.
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

// othersThere answers when the samples of each other runner have arrived or can no longer arrive.
func (c *Coordinator) othersThere(ctx context.Context, number int) (Answer, error) {
	return c.held(ctx, number, func(*runner) (Answer, bool) {
		done := c.all(func(r *runner) bool { return r.over() })
		return Answer{Done: done}, done
	})
}

// values are a metric's values over the samples of all runners; record.Parse parses the metric's name. They are nil for
// an unknown metric.
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

// openWhole opens all records that arrived. It skips an unreadable record, which the final judgement reports. The caller
// holds mu.
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
	readable := seq.Filter(parts, func(part judge.Recorded) bool { return part.Lost == "" })
	records := seq.Map(readable, func(part judge.Recorded) *record.Record { return part.Record })
	return &whole{parts, record.Together(records...)}
}
