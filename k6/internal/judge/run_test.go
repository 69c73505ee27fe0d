// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"testing"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

func TestAK6ThatFailedHasNotPassed(t *testing.T) {
	const exception, killed = 107, -1
	for _, c := range []struct {
		about, verdict, profile string
		code                    int
		outcome, why            string
	}{
		{"all is well", result.Pass, "quick", exit.Pass, run.Pass, ""},
		{"k6 knows of a threshold", result.Pass, "quick", exit.Fail, run.Fail, "k6 says that a threshold failed: said last"},
		{"a limit is looked for", result.Pass, "breakpoint", exit.Fail, run.Pass, ""},
		{"a limit is looked for, and the script threw", result.Pass, "breakpoint", exception, run.Inconclusive, "it ended so: said last"},
		{"the script threw", result.Pass, "quick", exception, run.Inconclusive, "it ended so: said last"},
		{"k6 was killed", result.Pass, "quick", killed, run.Inconclusive, "it ended so: said last"},
		{"it failed, and k6 says so too", result.Fail, "quick", exit.Fail, run.Fail, ""},
		{"it failed, and the script threw", result.Fail, "quick", exception, run.Fail, ""},
		{"it cannot be trusted", result.Inconclusive, "quick", exit.Fail, run.Inconclusive, ""},
	} {
		outcome, why := Ended(c.code, "it ended so", "said last", result.Result{Verdict: c.verdict, Run: result.Run{Profile: c.profile}})
		if outcome != c.outcome || why != c.why {
			t.Errorf("%s: %s %q, want %s %q", c.about, outcome, why, c.outcome, c.why)
		}
	}
}

func TestTheOutcomeOfAScenarioIsWhatItsRecordAndItsResultSay(t *testing.T) {
	for _, c := range []struct{ recorded, verdict, want string }{
		{run.Interrupted, result.Pass, run.Interrupted},
		{run.SetupFailed, result.Pass, run.SetupFailed},
		{run.Skipped, result.Pass, run.Skipped},
		{run.LeftOut, result.Pass, run.LeftOut},
		{run.Fail, result.Pass, run.Fail},
		{run.Inconclusive, result.Pass, run.Inconclusive},
		{run.Inconclusive, result.Fail, run.Fail},
		{run.Pass, result.Fail, run.Fail},
		{run.Running, result.Pass, run.Pass},
		{run.Planned, result.Inconclusive, run.Inconclusive},
	} {
		if got := Outcome(c.recorded, c.verdict); got != c.want {
			t.Errorf("%s and %s: %s, want %s", c.recorded, c.verdict, got, c.want)
		}
	}
}

func TestTheVerdictOfARunIsTheWorstOfItsScenarios(t *testing.T) {
	disk := exit.Setup
	for about, c := range map[string]struct {
		outcomes []string
		recorded *int
		want     int
	}{
		"nothing was planned":            {nil, nil, exit.Inconclusive},
		"all pass":                       {[]string{run.Pass, run.Pass}, nil, exit.Pass},
		"one fails":                      {[]string{run.Pass, run.Fail, run.Inconclusive}, nil, exit.Fail},
		"one is missing":                 {[]string{run.Pass, run.Planned}, nil, exit.Inconclusive},
		"one has no system":              {[]string{run.Fail, run.SetupFailed}, nil, exit.Setup},
		"interrupted":                    {[]string{run.SetupFailed, run.Interrupted, run.Skipped}, nil, exit.Interrupted},
		"one was left out":               {[]string{run.Pass, run.LeftOut}, nil, exit.Pass},
		"all were left out":              {[]string{run.LeftOut, run.LeftOut}, nil, exit.Setup},
		"all were left out, and allowed": {[]string{run.LeftOut}, p(exit.Pass), exit.Pass},
		"the disk was full":              {[]string{run.Pass}, &disk, exit.Setup},
	} {
		if got := ExitCode(c.outcomes, c.recorded); got != c.want {
			t.Errorf("%s: %d, want %d", about, got, c.want)
		}
	}
	if AllLeftOut(nil) || AllLeftOut([]string{run.LeftOut, run.Pass}) || !AllLeftOut([]string{run.LeftOut}) {
		t.Error("what was left out")
	}
}

func TestOnlyTheMachineTheGeneratorAndASlowLinkSpoilAMeasurement(t *testing.T) {
	because := func(kinds ...string) (reasons []result.Reason) {
		for _, kind := range kinds {
			reasons = append(reasons, result.Reason{Kind: kind, Text: "because of " + kind})
		}
		return reasons
	}
	slow, died := "link: socks: down: the link "+linkSlow, "link: socks: "+linkDied+"killed"
	for _, c := range []struct {
		verdict string
		reasons []result.Reason
		want    string
	}{
		{result.Inconclusive, because(result.Machine, result.Generator), "because of machine"},
		{result.Inconclusive, because(result.Generator), "because of generator"},
		{result.Inconclusive, because(result.Machine, "samples"), ""},
		{result.Inconclusive, []result.Reason{{Kind: "row", Text: "2 × lost", BusyMachine: true}}, "2 × lost"},
		{result.Inconclusive, append(because(result.Machine), result.Reason{Kind: "error", BusyMachine: true}), "because of machine"},
		{result.Inconclusive, append(because("error"), result.Reason{Kind: "row", BusyMachine: true}), ""},
		{result.Inconclusive, []result.Reason{{Kind: meter, Text: slow}}, slow},
		{result.Inconclusive, []result.Reason{{Kind: meter, Text: slow + " (and 1 more)", All: []string{slow, slow}}}, slow + " (and 1 more)"},
		{result.Inconclusive, []result.Reason{{Kind: meter, Text: slow + " (and 1 more)", All: []string{slow, died}}}, ""},
		{result.Inconclusive, []result.Reason{{Kind: meter, Text: slow + "; up: " + lossUnknown}}, ""},
		{result.Inconclusive, []result.Reason{{Kind: meter, Text: "link rtt:20ms: down: 31 ms, because it was too slow"}}, ""},
		{result.Inconclusive, []result.Reason{{Kind: meter, Text: died}}, ""},
		{result.Inconclusive, []result.Reason{{Kind: meter, Text: "generator limits: 1,024 descriptors"}}, ""},
		{result.Fail, []result.Reason{{Kind: meter, Text: slow}}, ""},
		{result.Fail, []result.Reason{{Kind: "row", BusyMachine: true}}, ""},
		{result.Inconclusive, nil, ""},
		{result.Fail, because(result.Machine), ""},
		{result.Pass, nil, ""},
	} {
		if got := Spoilt(result.Result{Verdict: c.verdict, Reasons: c.reasons}); got != c.want {
			t.Errorf("%s of %v: %q, want %q", c.verdict, c.reasons, got, c.want)
		}
	}
}
