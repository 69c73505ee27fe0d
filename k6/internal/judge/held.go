// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"fmt"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
)

// knownToKeep are releases of proxies that keep connections whose client has closed them, by program and version. ss(8) shows the
// same: through xray-pair all were open after 290 s and gone after 320 s; xray alone closed each within 1 s.
var knownToKeep = map[[2]string]string{
	{"xray", "26.3.27"}: "a pair of xray 26.3.27 keeps a connection that its client has closed for 300 s",
}

// knownFault is the known fault of the testbed's proxy; "" without one. Another version has no such excuse, and neither has a panel
// that starts the proxy.
func knownFault(e Evidence) string {
	var run struct {
		Versions map[string]string `json:"versions"`
	}
	if _ = json.Unmarshal(e.Run, &run); !e.ClosesAll {
		return ""
	}
	return knownIn(run.Versions)
}

func knownIn(versions map[string]string) string {
	for release, fault := range knownToKeep {
		if versions[release[0]] == release[1] {
			return fault
		}
	}
	return ""
}

// leftOpen judges what the system holds after the load and did not hold before; nil if it was not read. TCP connections
// count for every system: pools between its processes and to a database do not count as left. Other descriptors count only
// if the system must close them all: a database may keep files open. known is a known fault with connections of a client
// and a server, so that a proxy of one process has no excuse.
func leftOpen(held *result.Held, closesAll bool, known string) []result.Integrity {
	if held == nil {
		return nil
	}
	line := result.Integrity{Check: result.LeftOpen, Source: processes, Reported: &held.Slack}
	var tcp, other, most int64
	var who, unknown []string
	for _, p := range held.Processes {
		connections, files, known := p.Left()
		if !known {
			unknown = append(unknown, p.Name)
			continue
		}
		if !closesAll {
			files = 0
		}
		most = max(most, connections, files)
		if connections > held.Slack {
			tcp += connections
		}
		if files > held.Slack {
			other += files
		}
		if max(connections, files) > held.Slack {
			who = append(who, fmt.Sprintf("%s has %s", p.Name, p.After.Descriptors.Words()))
		}
	}
	var left []string
	if tcp > 0 {
		left = append(left, format.Count(tcp)+" TCP connections")
	}
	if other > 0 {
		left = append(left, format.Count(other)+" other descriptors")
	}
	unreadable := "the descriptors could not be read"
	if len(unknown) > 0 {
		unreadable += " of: " + strings.Join(unknown, ", ")
	}
	bound := fmt.Sprintf("%d of a kind may stay in a process", held.Slack)
	found := tcp + other
	switch {
	case found > 0:
		line.Detail = fmt.Sprintf("%s %g s after the load (%s); %s", strings.Join(left, " and "), held.AfterS, strings.Join(who, "; "), bound)
	case len(unknown) > 0 || len(held.Processes) == 0:
		line.Detail = unreadable
		return []result.Integrity{line}
	default:
		found = most
		line.Detail = fmt.Sprintf("at most %d more than before, %g s after the load; %s", most, held.AfterS, bound)
	}
	line.Found, line.OK = &found, new(found <= held.Slack)
	if tcp > 0 && other == 0 && known != "" && len(held.Processes) > 1 {
		line.Detail += "; known: " + known
		if len(unknown) > 0 {
			// The fault does not excuse what could not be read.
			line.OK, line.Detail = nil, line.Detail+"; "+unreadable
		} else {
			line.Known = known
		}
	}
	return []result.Integrity{line}
}

// leftByRows judges the rows, whose proxies must close all: a line for each row that left something open or is unknown, and one for
// all others.
func leftByRows(rows []result.HeldByRow) (lines []result.Integrity) {
	closed, most, slowest, slack := 0, int64(0), 0.0, int64(0)
	for _, row := range rows {
		if row.Unjudged != "" {
			continue
		}
		for _, line := range leftOpen(&row.Held, true, knownIn(row.Versions)) {
			if line.OK == nil || !*line.OK {
				line.Detail = row.Name + ": " + line.Detail
				lines = append(lines, line)
				continue
			}
			closed++
			most, slowest, slack = max(most, *line.Found), max(slowest, row.Held.AfterS), row.Held.Slack
		}
	}
	if closed == 0 {
		return lines
	}
	detail := fmt.Sprintf("%s: at most %d more than before, at most %g s after a turn; %d of a kind may stay in a process",
		format.Plural(closed, "row"), most, slowest, slack)
	return append(lines, result.Integrity{Check: result.LeftOpen, Source: processes, Reported: &slack, Found: &most, OK: new(true), Detail: detail})
}
