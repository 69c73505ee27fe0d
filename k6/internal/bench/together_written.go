// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"windtunnel/k6/internal/coordinator"
	"windtunnel/k6/internal/fault"
	"windtunnel/k6/internal/redact"
	"windtunnel/k6/internal/run"
)

// dashboardOf is the path of a runner's dashboard page.
func (j job) dashboardOf(number int) string {
	return j.file(fmt.Sprintf(".runner-%d.dashboard.html", number))
}

// writeTogether judges the received records and writes the result. It returns an error if there is no result.
func (b *session) writeTogether(j job, t together, keeper *coordinator.Coordinator) error {
	files, _ := keeper.Records()
	b.redactTogether(j, t.child.Redactor, files)
	found, err := keeper.Judge()
	if err != nil {
		return err
	}
	text, err := found.File()
	if err != nil {
		return err
	}
	path := j.file(".json")
	if err := run.WriteFile(path, text); err != nil {
		return err
	}
	if err := t.child.Redactor.ResultFile(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// redactTogether removes secrets from the runners' files.
func (b *session) redactTogether(j job, redactor *redact.Redactor, records []string) {
	clean := func(path string, remove func(string) error) {
		if err := remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			b.screen.Error("%s: %v", filepath.Base(path), fault.Reason(err))
		}
	}
	for _, path := range records {
		clean(path, redactor.RecordFile)
	}
	for number := 1; number <= b.Runners; number++ {
		clean(j.dashboardOf(number), redactor.File)
	}
}
