// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"
	"strings"

	"windtunnel/k6/internal/farend"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
)

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
