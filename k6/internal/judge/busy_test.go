// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"testing"

	"windtunnel/k6/internal/result"
)

// crowded is the evidence of a run whose CPU other programs used too.
func crowded() Evidence {
	e := complete()
	e.Placement = &result.Placement{ProbeCPUs: "1"}
	e.Usage.Host.ByCPU = []CPUUsage{cpuUsage(1, 1)}
	return e
}

func failing(kind string, count float64) fake {
	return sent(1000-count, count).with(fake{"operation_errors{operation:send,kind:" + kind + "}": {"count": count}})
}

// A bound on failures is crossed. Only a busy machine excuses it, and only for kinds of errors that a busy machine can
// cause.
func TestABusyMachineIsNoFailureOfTheSystemAndExcusesNothingElse(t *testing.T) {
	both := failing("lost", 3).with(fake{"operation_errors{operation:send,kind:corrupted}": {"count": 1}})
	unnamed := failing("lost", 3).with(fake{"operation_failed{operation:send}": {"rate": 0.004, "passes": 4, "fails": 997}})
	for _, c := range []struct {
		about    string
		evidence Evidence
		measured fake
		want     string
		again    bool
	}{
		{"lost on a quiet machine", complete(), failing("lost", 3), result.Fail, false},
		{"lost", crowded(), failing("lost", 3), result.Inconclusive, true},
		{"late", crowded(), failing("late", 3), result.Inconclusive, true},
		{"timeout", crowded(), failing("timeout", 3), result.Inconclusive, true},
		{"stalled", crowded(), failing("stalled", 3), result.Inconclusive, true},
		{"each request timed out", crowded(), sent(0, 1000).with(fake{"operation_errors{operation:send,kind:timeout}": {"count": 1000}}), result.Fail, false},
		{"corrupted", crowded(), failing("corrupted", 3), result.Fail, false},
		{"refused", crowded(), failing("connection_refused", 3), result.Fail, false},
		{"wrong answers", crowded(), failing("bad_response", 3), result.Fail, false},
		{"duplicated", crowded(), failing("duplicated", 3), result.Fail, false},
		{"lost, and corrupted", crowded(), both, result.Fail, false},
		{"one of the failures has no kind", crowded(), unnamed, result.Fail, false},
		{"none", crowded(), sent(1000, 0), result.Inconclusive, true},
	} {
		j := judged(t, c.evidence, c.measured)
		if j.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.about, j.Verdict, c.want, reasonsOf(j))
		}
		spoilt := Spoilt(result.Result{Verdict: j.Verdict, Reasons: j.Reasons})
		if (spoilt != "") != c.again {
			t.Errorf("%s: measured again for %q: %+v", c.about, spoilt, j.Reasons)
		}
	}
}

func TestALostMessageOfTheTargetsDataIsAFailureHoweverBusyTheMachineIs(t *testing.T) {
	e := crowded()
	e.Facts = []Fact{{Check: "messages", Source: "api", Found: said(p(int64(1))), Reported: said(p(int64(2)))}}
	isJudged(t, "data", judged(t, e, failing("lost", 1)), result.Fail, "messages: 1 found, 2 reported")
}

// A program that ended has failed, whatever other programs did.
func TestASystemThatEndedIsNotExcused(t *testing.T) {
	e := crowded()
	e.Usage.Processes = usage(40, 60, 50, "signal 9").Processes
	isJudged(t, "ended", judged(t, e, failing("timeout", 3)), result.Fail, "relay ended")
}

func TestALimitThatOthersOnTheCPUsCanHaveMadeIsNotKnown(t *testing.T) {
	broken := opinion{verdict: result.Fail, reasons: []reason{because("limit", "the first step already exceeded the limit")}}
	rows := []result.Operation{{Name: "send", Requests: 10, Success: 5, Errors: map[string]int64{"timeout": 5}}}
	busy := []result.Validity{*check("neighbours", result.Machine, false, "CPU 1")}
	quiet := []result.Validity{*check("neighbours", result.Machine, true, "none")}
	for want, j := range map[string]result.Result{
		result.Inconclusive: {Operations: rows, Validity: busy}, result.Fail: {Operations: rows, Validity: quiet},
	} {
		if got := excusedLimit(broken, Judged{Result: j}); got.verdict != want {
			t.Errorf("%s, want %s", got.verdict, want)
		}
	}
	rows[0].Errors["corrupted"] = 1
	if got := excusedLimit(broken, Judged{Result: result.Result{Operations: rows, Validity: busy}}); got.verdict != result.Fail {
		t.Error(got.verdict)
	}
}

// spoiltLimit says whether a run is measured again that looks for the limit, beside others on the CPUs or not.
func spoiltLimit(t *testing.T, measured fake, d Declared, errors map[string]int64, busy bool) bool {
	t.Helper()
	checks := []result.Validity{*check("neighbours", result.Machine, !busy, "CPU 1"), *check("send", "dropped", false, "5 dropped")}
	failed := errors["timeout"] + errors["connection_refused"]
	j := Judged{Result: result.Result{Operations: []result.Operation{{Name: "send", Requests: 200, Success: 200 - failed, Errors: errors}}, Validity: checks}}
	found := markBusy(excusedLimit(findLimit(measured, Evidence{Declared: d, LoadS: 30}, checks), j), j)
	return Spoilt(result.Result{Verdict: found.verdict, Reasons: fold(found.reasons)}) != ""
}

func TestALimitThatABusyMachineHidesIsLookedForAgain(t *testing.T) {
	late, refused := map[string]int64{"timeout": 40}, map[string]int64{"connection_refused": 40}
	d, unmeasured := steps(40)
	delete(unmeasured, "operation_failed{operation:send,step:0}")
	_, first := steps(0)
	first["operation_ms{operation:send,step:0}"]["p(95)"] = 500
	_, held := steps(0)
	for _, c := range []struct {
		about    string
		measured fake
		errors   map[string]int64
		busy     bool
		again    bool
	}{
		{"the step below was not measured", unmeasured, late, true, true},
		{"the first step did not hold", first, late, true, true},
		{"on a quiet machine", unmeasured, late, false, false},
		{"the first step on a quiet machine", first, late, false, false},
		{"the system refused", unmeasured, refused, true, false},
		{"every step held", held, nil, true, false},
	} {
		if again := spoiltLimit(t, c.measured, d, c.errors, c.busy); again != c.again {
			t.Errorf("%s: again %v, want %v", c.about, again, c.again)
		}
	}
}

func TestARowIsExcusedByOthersOnItsCPUsWhereAllItsErrorsCanBeTheirs(t *testing.T) {
	disturbed := Judged{Result: result.Result{Validity: []result.Validity{*check("neighbours", result.Machine, false, "CPU 1")}}}
	ofTurn := func(part string, settled bool) Judged {
		return Judged{Result: result.Result{Repeated: []result.Repeated{{Part: part, Settled: settled}}}}
	}
	lossy, other := side(withErrors), side(withErrors)
	lossy.Busy, lossy.Detail, other.Detail = true, p("2 × lost"), p("1 × closed")
	lacking := line("latency", missed)
	lacking.Ratio, lacking.Lacks = nil, p("not measured in any turn of the candidate")
	slow := side(tooSlow)
	slow.Busy = true
	gone := side("not ready")
	gone.Busy = true
	for _, c := range []struct {
		about     string
		j         Judged
		candidate *ProtocolSide
		lines     []ProtocolComparison
		want      string
	}{
		{"a quiet machine", Judged{}, lossy, lines(), result.Fail},
		{"lost beside others", disturbed, lossy, lines(), result.Inconclusive},
		{"closed beside others", disturbed, other, lines(), result.Fail},
		{"too slow beside others", disturbed, slow, lines(), result.Inconclusive},
		{"too slow on a quiet machine", Judged{}, slow, lines(), result.Fail},
		{"not ready beside others", disturbed, gone, lines(), result.Fail},
		{"a turn beside others", ofTurn("hysteria2, turn 3", false), lossy, lines(), result.Inconclusive},
		{"a turn that was settled", ofTurn("hysteria2, turn 3", true), lossy, lines(), result.Fail},
		{"a turn of another row", ofTurn("hysteria2-obfs, turn 3", false), lossy, lines(), result.Fail},
		{"nothing came beside others", disturbed, lossy, lines(lacking), result.Inconclusive},
		{"nothing came on a quiet machine", Judged{}, lossy, lines(lacking), result.Fail},
		{"a target is missed all the same", disturbed, lossy, lines(line("memory", missed)), result.Fail},
	} {
		found := ofProtocols(Protocols{Compared: true, Rows: []ProtocolRow{rowNamed("hysteria2", c.candidate, c.lines...)}}, nil, c.j, result.Pass)
		if found.verdict != c.want {
			t.Errorf("%s: %s, want %s: %+v", c.about, found.verdict, c.want, found.reasons)
		}
		if c.want != result.Inconclusive {
			continue
		}
		if spoilt := Spoilt(result.Result{Verdict: found.verdict, Reasons: fold(markBusy(found, c.j).reasons)}); spoilt == "" {
			t.Errorf("%s: not measured again: %+v", c.about, found.reasons)
		}
	}
}

// A link that was too slow is measured again: a short pause of the machine is enough to make it late. A link that died is not.
func TestASlowLinkIsMeasuredAgain(t *testing.T) {
	died := "the device is gone"
	slow := carried("trojan", LinkCounts{Sent: 100, Delivered: 98, OwnUnread: new(int64(2))})
	for _, c := range []struct {
		use   LinkUse
		busy  bool
		again bool
	}{{slow, true, true}, {slow, false, true}, {LinkUse{Name: "trojan", Failed: &died}, true, false}} {
		e := complete()
		if c.busy {
			e = crowded()
		}
		e.Link = linkOver(c.use)
		j := judged(t, e, sent(1000, 0))
		if spoilt := Spoilt(result.Result{Verdict: j.Verdict, Reasons: j.Reasons}); j.Verdict != result.Inconclusive || (spoilt != "") != c.again {
			t.Errorf("%+v: %s, again for %q", c, j.Verdict, spoilt)
		}
	}
}
