// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"math"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
)

const (
	// roundingShare is the tolerated relative difference between figures that are computed from each other: a result
	// rounds them.
	roundingShare = 0.01
	// linkShare is the tolerated ratio of payload to a link's rate: the link's token bucket allows a burst.
	linkShare = 1.05
)

// impossible names a figure of a result that cannot be right, "" if all are possible. A run with such a figure is
// missing evidence.
func impossible(r result.Result) string {
	for _, op := range r.Operations {
		if why := impossibleOperation(r, op); why != "" {
			return fmt.Sprintf("%s: %s", op.Title, why)
		}
	}
	if why := impossibleMemory(r); why != "" {
		return why
	}
	return impossibleCPU(r)
}

func impossibleOperation(r result.Result, op result.Operation) string {
	switch {
	case op.Requests < 0 || op.Success < 0 || op.WindowS < 0:
		return "a count or a window is negative"
	case op.Success > op.Requests:
		return fmt.Sprintf("%s successes of %s requests", format.Count(op.Success), format.Count(op.Requests))
	case op.Success > 0 && (op.LatencyMS == nil || op.LatencyMS.Count != op.Success):
		return "not every success has a latency"
	}
	for kind, n := range op.Errors {
		if n < 0 {
			return "a negative number of errors: " + kind
		}
	}
	if op.RatePerS != nil && !isRatio(*op.RatePerS, float64(op.Success), op.WindowS) {
		return "its rate does not match its successes and its window"
	}
	if op.LatencyMS != nil && op.LatencyMS.Count > 0 && !inOrder(*op.LatencyMS) {
		return "its latencies are 0, negative or not in order"
	}
	if op.Transfer != nil {
		return impossibleTransfer(r, op)
	}
	return ""
}

func impossibleTransfer(r result.Result, op result.Operation) string {
	t := *op.Transfer
	switch {
	case t.Bytes < 0 || t.Bytes == 0 && op.Success > 0:
		return fmt.Sprintf("%d bytes of payload", t.Bytes)
	case t.MbitPerS == nil:
		return ""
	case !isRatio(*t.MbitPerS, float64(t.Bytes)*8/1e6, op.WindowS):
		return "its throughput does not match its bytes and its window"
	}
	if rate := linkRate(r.Run.Link, strings.Contains(op.Name, "both")); rate > 0 && *t.MbitPerS > linkShare*rate {
		return fmt.Sprintf("%s Mbit/s over a link of %s Mbit/s", format.Mbit(t.MbitPerS), format.Mbit(&rate))
	}
	return ""
}

// linkRate is a link's capacity in Mbit/s, of the faster direction or of both together; 0 without a limit.
func linkRate(link *result.Link, both bool) float64 {
	if link == nil || link.Settings.Up.RateBitS == nil || link.Settings.Down.RateBitS == nil {
		return 0
	}
	up, down := float64(*link.Settings.Up.RateBitS)/1e6, float64(*link.Settings.Down.RateBitS)/1e6
	if both {
		return up + down
	}
	return max(up, down)
}

// isRatio reports whether a figure equals count / seconds within rounding.
func isRatio(figure, count, seconds float64) bool {
	if seconds <= 0 {
		return count <= 0
	}
	computed := count / seconds
	return math.Abs(figure-computed) <= max(roundingShare*computed, 0.002)
}

// inOrder reports whether latencies rise with their percentile and lie between minimum and maximum. The count must be
// above 0.
func inOrder(l result.Latency) bool {
	least := l.Min
	for _, p := range []*float64{l.P50, l.P90, l.P95, l.P99, l.P999, &l.Max} {
		if p == nil {
			continue
		}
		if *p < least {
			return false
		}
		least = *p
	}
	return l.Max > 0 && l.Avg > 0 && l.Avg >= l.Min*(1-roundingShare) && l.Avg <= l.Max*(1+roundingShare)
}

func impossibleMemory(r result.Result) string {
	for _, p := range r.Processes {
		if p.PeakAnonBytes == nil || p.Role != "total" {
			continue
		}
		most := int64(math.MaxInt64) // if the host's memory is unknown
		if host := r.Run.Host; host != nil && host.Memory() > 0 {
			most = host.Memory()
		}
		if *p.PeakAnonBytes <= 0 || *p.PeakAnonBytes > most {
			return fmt.Sprintf("the system's own memory is %d bytes", *p.PeakAnonBytes)
		}
	}
	return ""
}

// impossibleCPU finds work without CPU time.
func impossibleCPU(r result.Result) string {
	done := int64(0)
	measured := 0.0
	for _, op := range r.Judged() {
		done += op.Success
		if op.CPU == nil || op.CPU.SystemS == nil {
			continue
		}
		if *op.CPU.SystemS < 0 || *op.CPU.SystemS == 0 && op.Success > 0 {
			return fmt.Sprintf("%s: the system took %g s of CPU for %s operations", op.Title, *op.CPU.SystemS, format.Count(op.Success))
		}
		if each := op.CPU.SystemUSPerOperation; each != nil && !isRatio(*each, *op.CPU.SystemS*1e6, float64(op.Success)) {
			return op.Title + ": its CPU per operation does not match its CPU and its successes"
		}
		measured += *op.CPU.SystemS
	}
	if done == 0 {
		return ""
	}
	for _, p := range r.Processes {
		if p.Role == "total" && p.CPUS <= 0 {
			return fmt.Sprintf("the system took %g s of CPU for %s operations", p.CPUS, format.Count(done))
		}
	}
	if c := r.CPU; c != nil && (c.SystemS <= 0 || c.SystemS < measured*(1-roundingShare) || c.WindowS <= 0 || c.QuietS < 0 || c.QuietSystemS < 0 || c.QuietSystemS > c.SystemS*(1+roundingShare)) {
		return fmt.Sprintf("the system took %g s of CPU to the end of the quiet period, %g s of them in measured parts", c.SystemS, measured)
	}
	return ""
}
