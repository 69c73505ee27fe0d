// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

func TestGoldenDataplane(t *testing.T) {
	set, err := Load([]string{"testdata/dataplane"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := Markdown(set, Options{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report-dataplane.md", text)
	page, err := HTML(set, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"What the proxy costs", "Sweep of buffer_kib", "<td class=\"n\">998</td>", "shared: probe on CPU 1", "129.9", "64 &lt;KiB&gt;"} {
		if !strings.Contains(string(page), part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}

func TestWhyAPercentileIsNotShown(t *testing.T) {
	op := result.Operation{Title: "Send", LatencyMS: &result.Latency{Count: 50}}
	notes := strings.Join(operationNotes(op), "\n")
	for _, want := range []string{
		"Send: no P95 (—): the generator's lateness is more than half of it.",
		"Send: no P99 (—): it needs 100 samples, there are 50.",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is missing in\n%s", want, notes)
		}
	}
}

func TestPlacementInWords(t *testing.T) {
	p := &result.Placement{Name: "split", ProbeCPUs: "1", SystemCPUs: "", EchoCPUs: "1", Wait: "spin"}
	if got := placement(p); got != "split: probe on CPU 1, echo on CPU 1, system not pinned; spinning" {
		t.Error(got)
	}
}
