// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

// steps are two steps; the second fails with this many failed requests, or was not measured with -1.
func steps(failures float64) (Declared, fake) {
	d := Declared{Steps: &Steps{Seconds: 15, Loads: []string{"load 0", "load 1"}}, Operations: []Operation{
		{Name: "send", Bounds: bounds(map[string]float64{"p(95)": 100})},
	}}
	metrics := fake{}
	for step, failed := range []float64{0, failures} {
		if failed < 0 {
			continue
		}
		tags := "{operation:send,step:" + []string{"0", "1"}[step] + "}"
		metrics["operation_ms"+tags] = map[string]float64{"count": 100, "p(95)": 5}
		metrics["operation_failed"+tags] = map[string]float64{"passes": failed, "fails": 100, "rate": failed / (100 + failed)}
	}
	return d, metrics
}

func TestALimitThatWasFoundIsAPass(t *testing.T) {
	d, metrics := steps(40)
	found := findLimit(metrics, Evidence{Declared: d, LoadS: 30}, []result.Validity{*check("processes", "process", true, "all alive")})
	if found.verdict != result.Pass || !slices.Equal(found.notes, []string{
		"step 1, load 0: send P95 5.00 ms, 0% failed: held",
		"step 2, load 1: send P95 5.00 ms, 28.57% failed: did not hold",
		"the limit: load 0 held, load 1 did not",
	}) {
		t.Errorf("%+v", found)
	}
}

func TestASystemThatEndedAtItsLimitHasFailed(t *testing.T) {
	d, metrics := steps(40)
	found := findLimit(metrics, Evidence{Declared: d, LoadS: 30}, []result.Validity{*check("processes", "process", false, "relay ended")})
	if found.verdict != result.Fail || len(found.reasons) != 1 || found.reasons[0].text != "processes: relay ended" {
		t.Errorf("%+v", found)
	}
}

func TestALimitBesideNeighboursOrOfTheGeneratorIsNone(t *testing.T) {
	d, metrics := steps(40)
	for name, kind := range map[string]string{"neighbours": "machine", "generator limits": "meter", "controls": "meter", "support processes": "process"} {
		if found := findLimit(metrics, Evidence{Declared: d, LoadS: 30}, []result.Validity{*check(name, kind, false, "")}); found.verdict != result.Inconclusive {
			t.Errorf("%s: %s", name, found.verdict)
		}
	}
	for _, kind := range byStep {
		if found := findLimit(metrics, Evidence{Declared: d, LoadS: 30}, []result.Validity{*check("x", kind, false, "")}); found.verdict != result.Pass {
			t.Errorf("%s: a step that is too much cannot hold it, and is %s", kind, found.verdict)
		}
	}
}

func TestNoLimitAndNoStepThatHeld(t *testing.T) {
	d, metrics := steps(5)
	if found := findLimit(metrics, Evidence{Declared: d, LoadS: 30}, nil); found.verdict != result.Inconclusive || found.reasons[0].text != noneBroke {
		t.Errorf("%+v", found)
	}
	if found := findLimit(fake{}, Evidence{Declared: d, LoadS: 30}, nil); found.verdict != result.Inconclusive || found.reasons[0].text != "nothing was measured" {
		t.Errorf("%+v", found)
	}
	metrics["operation_ms{operation:send,step:0}"]["p(95)"] = 100
	if found := findLimit(metrics, Evidence{Declared: d, LoadS: 30}, nil); found.verdict != result.Fail || !strings.Contains(found.reasons[0].text, "the first step already exceeded the limit: step 1, load 0: send P95 100 ms") ||
		len(found.notes) != 1 {
		t.Errorf("%+v", found)
	}
	_, some := steps(-1)
	if found := findLimit(some, Evidence{Declared: d, LoadS: 30}, nil); len(found.notes) != 1 {
		t.Errorf("%+v", found)
	}
}

// If steps are no longer than the warm-up, nothing of the first step remains.
func TestAStepBelowTheLimitMustHaveBeenMeasured(t *testing.T) {
	d, metrics := steps(40)
	delete(metrics, "operation_failed{operation:send,step:0}")
	found := findLimit(metrics, Evidence{Declared: d, LoadS: 30}, nil)
	if found.verdict != result.Inconclusive || !strings.Contains(found.reasons[0].text, "did not hold, and the step below it was not measured") {
		t.Errorf("%+v", found)
	}
}

func TestAStepHoldsWhereOneInTwentyFailsAndItsP95IsBelowTheBound(t *testing.T) {
	d, _ := steps(0)
	for _, c := range []struct {
		rate, p95, count float64
		holds            bool
		text             string
	}{
		{0.05, 99.9, 100, true, "send P95 99.9 ms, 5% failed"},
		{0.051, 5, 100, false, "send P95 5.00 ms, 5.1% failed"},
		{0, 100, 100, false, "send P95 100 ms, 0% failed"},
		{0, 0, 0, false, "send no success, 0% failed"},
	} {
		metrics := fake{
			"operation_ms{operation:send,step:0}":     {"count": c.count, "p(95)": c.p95},
			"operation_failed{operation:send,step:0}": {"passes": 1, "fails": 1, "rate": c.rate},
		}
		if in := operationInStep(metrics, d.Operations[0], 0); in.text != c.text || in.holds != c.holds || in.requests != 2 {
			t.Errorf("%+v, want %+v", in, c)
		}
	}
	if in := operationInStep(fake{}, d.Operations[0], 0); !in.holds || in.requests > 0 {
		t.Error("what did nothing is not judged")
	}
}

func TestAStepHoldsWhereAllOfItsOperationsDo(t *testing.T) {
	d, metrics := steps(40)
	d.Operations = append(d.Operations, Operation{Name: "look"})
	for _, step := range []string{"0", "1"} {
		metrics["operation_ms{operation:look,step:"+step+"}"] = map[string]float64{"count": 9, "p(95)": 1}
		metrics["operation_failed{operation:look,step:"+step+"}"] = map[string]float64{"fails": 9}
	}
	found := stepsOf(metrics, d)
	if len(found) != 2 || !found[0].holds || found[1].holds ||
		found[1].text != "step 2, load 1: send P95 5.00 ms, 28.57% failed; look P95 1.00 ms, 0% failed: did not hold" {
		t.Errorf("%+v", found)
	}
}
