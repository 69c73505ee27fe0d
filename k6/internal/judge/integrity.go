// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"
	"math"
	"strings"

	"windtunnel/k6/internal/farend"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
)

// Fact is a count of the target's data, and the count that the run reported. Whether the two agree is judged here.
// Several runners report counters, which are added up. Only one runner counts the target's data.
type Fact struct {
	Check string `json:"check"`
	// Source is where the data was counted: sql, api, dns or far_end. For processes, Found is an end of the interval of a growth or a rate: the
	// upper end if all of it is within Reported, which is the bound, and the lower end otherwise.
	Source   string `json:"source"`
	Found    Amount `json:"found"`
	Reported Amount `json:"reported"`
	// Slack is the allowed difference: requests that were sent and got no clear answer.
	Slack []Term `json:"slack"`
	// Fewer is the allowed difference if less was found; Slack unless given.
	Fewer []Term `json:"fewer"`
	// MayGrow says that other clients add such data too, so an excess is not caused by the run.
	MayGrow bool `json:"may_grow"`
	// MayShrink says that other clients remove such data too.
	MayShrink bool `json:"may_shrink"`
}

// Amount is a number, or the sum of counters. Both are nil if the amount is unknown.
type Amount struct {
	Said    *int64 `json:"said"`
	Counted []Term `json:"counted"`
}

// Term is a counter of the record, times 1 or -1.
type Term struct {
	Metric string            `json:"metric"`
	Tags   map[string]string `json:"tags"`
	Times  float64           `json:"times"`
}

const (
	// dns is the source of facts about queries.
	dns = "dns"
	// processes is the source of facts about what processes hold.
	processes = "processes"
)

func sumOf(m Metrics, terms []Term) int64 {
	var sum float64
	for _, term := range terms {
		values, _ := m.Values(term.Metric, term.Tags)
		sum += term.Times * values["count"]
	}
	return int64(math.Round(sum))
}

func (a Amount) of(m Metrics) *int64 {
	if a.Counted == nil {
		return a.Said
	}
	return new(sumOf(m, a.Counted))
}

func integrityOf(m Metrics, facts []Fact) (lines []result.Integrity) {
	for _, fact := range facts {
		line := result.Integrity{Check: fact.Check, Source: fact.Source, Found: fact.Found.of(m), Reported: fact.Reported.of(m)}
		slack := sumOf(m, fact.Slack)
		switch fact.Source {
		case dns:
			judgeQueries(&line, slack)
		case processes:
			judgeGrowth(&line)
		default:
			if fact.Fewer != nil && line.Found != nil && line.Reported != nil && *line.Found < *line.Reported {
				slack = sumOf(m, fact.Fewer)
			}
			judgeRows(&line, slack, fact.MayGrow, fact.MayShrink)
		}
		lines = append(lines, line)
	}
	return lines
}

func judgeRows(line *result.Integrity, slack int64, mayGrow, mayShrink bool) {
	if line.Found == nil || line.Reported == nil {
		line.Detail = "could not be counted"
		return
	}
	found, reported := *line.Found, *line.Reported
	more := found - reported
	holds := max(more, -more) <= slack
	detail := fmt.Sprintf("%d found, %d reported", found, reported)
	switch {
	case more == 0:
		detail = fmt.Sprintf("%d, as reported", found)
	case more > 0 && mayGrow:
		holds, detail = true, fmt.Sprintf("%d, %d more than before the run: other clients added them", found, more)
	case more < 0 && mayShrink:
		holds, detail = true, fmt.Sprintf("%d, %d fewer than before the run: other clients removed them", found, -more)
	case holds:
		detail += fmt.Sprintf("; the target may have made %d more changes that it did not confirm", slack)
	}
	line.OK, line.Detail = &holds, detail
}

// judgeGrowth judges what the processes of the system keep of ended work, or do without work.
func judgeGrowth(line *result.Integrity) {
	if line.Found == nil || line.Reported == nil {
		line.Detail = "cannot tell: a longer run would narrow the interval (CYCLES, IDLE_S)"
		return
	}
	found, bound := *line.Found, *line.Reported
	holds := found <= bound
	line.OK, line.Detail = &holds, fmt.Sprintf("at most %d, and the bound is %d", found, bound)
	if !holds {
		line.Detail = fmt.Sprintf("at least %d, and the bound is %d", found, bound)
	}
}

// judgeQueries checks that the target cached the queries that it should cache, and no others.
func judgeQueries(line *result.Integrity, slack int64) {
	if line.Found == nil || line.Reported == nil || *line.Reported == 0 {
		line.Reported, line.Detail = nil, "nothing was measured"
		return
	}
	more := *line.Found - *line.Reported
	holds := max(more, -more) <= slack
	line.OK, line.Detail = &holds, "as many as expected"
	switch {
	case holds:
	case more < 0:
		line.Detail = fmt.Sprintf("%d queries were answered from a cache", -more)
	default:
		line.Detail = fmt.Sprintf("the server got %d more queries than expected", more)
	}
}

// farEnd is the source of the counts of the probes' far ends.
const farEnd = "far_end"

// farEndOf returns one line for each operation whose probes have ended.
func farEndOf(m Metrics, operations []Operation) (lines []result.Integrity) {
	for _, operation := range operations {
		if sums, recorded := farend.Of(m, operation.Name); recorded {
			lines = append(lines, farEndLine(operation.Name, sums))
		}
	}
	return lines
}

// farEndLine shows the count that is wrong, or the most informative one if all are right.
func farEndLine(operation string, sums map[string]farend.Sum) result.Integrity {
	line := result.Integrity{Check: "far end: " + operation, Source: farEnd, Detail: "not counted: the far end is not Windtunnel's echo server"}
	holds := true
	for _, name := range farend.Names {
		sum, counted := sums[name]
		wrong := counted && sum.Missing+sum.Beyond > 0
		if !counted || line.OK != nil && !(holds && wrong) {
			continue
		}
		holds = !wrong
		ok := holds
		line.OK, line.Reported, line.Found = &ok, &sum.Least, &sum.Found
		line.Detail = farEndDetail(name, sum)
	}
	return line
}

func farEndDetail(name string, sum farend.Sum) string {
	what, way, _ := strings.Cut(name, "_")
	did := map[string]string{"up": "received", "down": "sent"}[way]
	if did == "" {
		did = "accepted"
	}
	switch {
	case sum.Missing > 0 && sum.Found == 0 && did == "accepted":
		return fmt.Sprintf("the far end accepted 0 of %s %s: the proxy reported open tunnels but did not dial the target", format.Count(sum.Least), what)
	case sum.Missing > 0 && sum.Found == 0:
		return fmt.Sprintf("the far end %s 0 of %s %s: the proxy itself answered", did, format.Count(sum.Least), what)
	case sum.Missing > 0:
		return fmt.Sprintf("the far end %s %s fewer %s than the probe has answers: another program answered", did, format.Count(sum.Missing), what)
	case sum.Beyond > 0:
		return fmt.Sprintf("the far end %s %s more %s than the probe sent or requested", did, format.Count(sum.Beyond), what)
	case sum.Found > sum.Least:
		return fmt.Sprintf("the far end %s %s %s; for %s of them the probe has no answer", did, format.Count(sum.Found), what, format.Count(sum.Found-sum.Least))
	}
	return fmt.Sprintf("the far end %s as many %s as the probe counted", did, what)
}
