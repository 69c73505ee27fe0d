// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"fmt"

	"windtunnel/k6/internal/coordinator"
)

// dashboardOf is the path of a runner's dashboard page.
func (j job) dashboardOf(number int) string {
	return j.file(fmt.Sprintf(".runner-%d.dashboard.html", number))
}

// writeTogether removes secrets from the runners' files, judges the received records, and writes the result. It returns an error if there is no result.
func (b *session) writeTogether(j job, t together, keeper *coordinator.Coordinator) error {
	redactor := t.child.Redactor
	files, _ := keeper.Records()
	for _, path := range files {
		b.redact(path, redactor.RecordFile)
	}
	for number := 1; number <= b.Runners; number++ {
		b.redact(j.dashboardOf(number), redactor.File)
	}
	found, err := keeper.Judge()
	if err != nil {
		return err
	}
	return found.Write(j.file(".json"), redactor.ResultFile)
}
