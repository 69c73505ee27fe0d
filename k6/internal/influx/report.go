// SPDX-License-Identifier: AGPL-3.0-only

package influx

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
)

// reporter marks the lines of k6's log that are reports to the bench.
const reporter = "windtunnel"

// Report is a report of an output in k6's log: trouble with the server began, another remark, or, at the end, the
// missing seconds.
type Report struct {
	Warning string
	Notice  string
	Missing *Seconds // nil except at the end
}

// Log writes the report as one line of a log.
func (r Report) Log(log logrus.FieldLogger) {
	field, value, line := "trouble", r.Warning, r.Warning
	switch {
	case r.Missing != nil:
		field, value, line = "missing", r.Missing.String(), r.Missing.Sentence()
	case r.Notice != "":
		field, value, line = "notice", r.Notice, r.Notice
	}
	log.WithField("output", reporter).WithField(field, value).Warn(line)
}

// ReadReport parses a line of k6's JSON log; false if it is no report.
func ReadReport(line string) (Report, bool) {
	var entry struct {
		Output  string  `json:"output"`
		Trouble string  `json:"trouble"`
		Notice  string  `json:"notice"`
		Missing *string `json:"missing"`
	}
	if !strings.Contains(line, `"output":"`+reporter+`"`) || json.Unmarshal([]byte(line), &entry) != nil || entry.Output != reporter {
		return Report{}, false
	}
	r := Report{Warning: entry.Trouble, Notice: entry.Notice}
	if entry.Missing != nil {
		missing := ParseSeconds(*entry.Missing)
		r.Missing = &missing
	}
	return r, true
}

// Sentence says which seconds are missing in InfluxDB.
func (s Seconds) Sentence() string {
	n := s.Count()
	if n == 0 {
		return "InfluxDB was unreachable for a while; all points were sent again, and none is missing"
	}
	first, last := s.Bounds()
	if n == 1 {
		return fmt.Sprintf("InfluxDB misses 1 second, %s UTC; the results are complete", first.Format(time.TimeOnly))
	}
	return fmt.Sprintf("InfluxDB misses %d seconds, from %s to %s UTC; the results are complete",
		n, first.Format(time.TimeOnly), last.Format(time.TimeOnly))
}
