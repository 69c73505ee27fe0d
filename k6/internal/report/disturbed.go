// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

// disturbedNotes says how often a scenario was measured because the machine or the generator spoilt a measurement.
func disturbedNotes(disturbed []string) []string {
	if len(disturbed) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Measured %d times, because the machine or the generator disturbed it. This is the last measurement. Before: %s",
		len(disturbed)+1, strings.Join(disturbed, "; "))}
}

// disturbedSeconds lists the seconds of the final measurement in which other programs used the CPUs.
func disturbedSeconds(r result.Result) []string {
	seconds := seq.Map(r.Disturbed, func(d result.Disturbed) int { return d.Second })
	slices.Sort(seconds)
	seconds = slices.Compact(seconds)
	if len(seconds) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Other programs used the CPUs in %d of the run's seconds (the first second is 0): %s", len(seconds), spans(seconds))}
}

const spansMost = 20

// spans writes sorted numbers as 3–5, 9.
func spans(numbers []int) string {
	written := format.Runs(numbers, "–")
	if len(written) > spansMost {
		written = append(written[:spansMost], "…")
	}
	return strings.Join(written, ", ")
}

// repeatedTable lists the parts of a run that were measured again, and why.
func repeatedTable(r result.Result) Table {
	t := Table{
		Title: "Measured again", Head: []string{"", "Part", "Thrown away", "For (s)", "Because of"},
		State: 0,
	}
	for _, x := range r.Repeated {
		t.Rows = append(t.Rows, []string{tick(&x.Settled), x.Part, times(x.Times), fmt.Sprintf("%.2f", x.ThrownAwayS),
			disturbances(x.DisturbedBy)})
		if !x.Settled {
			t.Notes = append(t.Notes, fmt.Sprintf("%s was disturbed each time; the last measurement counts.", x.Part))
		}
	}
	return t
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func disturbances(all []result.Disturbance) string {
	var words []string
	for _, d := range all {
		cpu := "all CPUs"
		if d.CPU != nil {
			cpu = fmt.Sprintf("CPU %d", *d.CPU)
		}
		words = append(words, fmt.Sprintf("%s: %s used by others, %s taken by the hypervisor", cpu,
			format.Percent(d.OthersPercent), format.Percent(d.StealPercent)))
	}
	return strings.Join(words, "; ")
}
