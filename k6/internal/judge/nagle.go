// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// delayedMS is how long Linux delays an acknowledgement to send it with an answer (TCP_DELACK_MIN of
	// include/net/tcp.h: 40 ms). delayedMostMS is the same time, rounded up by the kernel's clock.
	delayedMS, delayedMostMS = 40.0, 44.5
	// delayedTimes is the largest number of such waits in a row that is reported: one for each hop.
	delayedTimes = 4
	// quickShare is the largest ratio of the time without a wait to the time with waits.
	quickShare = 0.25
)

// waits is the number of delayed acknowledgements that a median looks like, 0 if it does not look like any.
func waits(ms float64) int {
	for n := 1; n <= delayedTimes; n++ {
		if ms >= float64(n)*delayedMS-1 && ms <= float64(n)*delayedMostMS+3 {
			return n
		}
	}
	return 0
}

// waitNotes names medians that last as long as delayed acknowledgements, if the same work without the proxy, or with the
// other program, takes a fraction of the time. In such a case a packet waits for the acknowledgement of the previous
// packet (RFC 896), while the other end delays that acknowledgement to send it with data (RFC 1122, 4.2.3.2).
func waitNotes(e Evidence, j Judged) []string {
	var found []string
	note := func(what string, ms, quick float64) {
		if n := waits(ms); n > 0 && quick <= ms*quickShare {
			found = append(found, fmt.Sprintf("%s %.1f ms (%s)", what, ms, waited(n)))
		}
	}
	for _, c := range j.Controls {
		op, _ := find(j.Operations, c.Operation)
		if op.LatencyMS != nil && op.LatencyMS.P50 != nil && c.P50MS != nil {
			note(op.Title+": P50", *op.LatencyMS.P50, *op.LatencyMS.P50-*c.P50MS)
		}
	}
	if e.Protocols != nil {
		for _, row := range e.Protocols.Rows {
			if row.Candidate == nil {
				continue
			}
			for _, figure := range []struct{ name, title string }{{"rtt_ms", "RTT"}, {"handshake_ms", "first reply"}} {
				a, b := row.Baseline.Figures[figure.name], row.Candidate.Figures[figure.name]
				if a != nil && b != nil {
					note(fmt.Sprintf("%s, candidate: %s", row.Row, figure.title), b.Median, a.Median)
				}
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []string{strings.Join(slices.Compact(found), "; ") + ": this matches delayed acknowledgements, 40 ms each. " +
		"Is TCP_NODELAY set on each connection of clients and servers, and is each message written at once?"}
}

func waited(n int) string {
	if n == 1 {
		return "one wait"
	}
	return fmt.Sprintf("%d waits", n)
}
