// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"strings"

	"windtunnel/k6/internal/junit"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// JUnit writes the report as JUnit XML, one suite for each scenario. A suite has a case for each threshold and each
// check of the data; if it did not hold, it is a failure if the scenario failed, and otherwise skipped, because it does
// not decide. A validity check is skipped if the figures cannot be trusted or the check could not run. The case of the
// verdict is skipped if the scenario was left out, and an error if it neither passed nor failed.
func JUnit(set Set, _ Options) ([]byte, error) {
	var all []junit.Suite
	seconds := 0.0
	for _, e := range set.Entries() {
		all = append(all, junitOf(e))
		if e.Result != nil {
			seconds += e.Result.Run.DurationS
		}
	}
	return junit.Write("windtunnel "+runID(set), all, seconds)
}

func junitOf(e Entry) junit.Suite {
	suite := junit.Suite{Name: e.Name, Time: junit.Time(0)}
	add := func(c junit.Case) {
		c.ClassName, c.Time = strings.ReplaceAll(e.Name, "/", "."), junit.Time(0)
		suite.Add(c)
	}
	if r := e.Result; r != nil {
		suite.Time = junit.Time(r.Run.DurationS)
		suite.Timestamp = r.Run.Start.UTC().Format("2006-01-02T15:04:05")
		suite.Properties = []junit.Property{{Name: "profile", Value: r.Run.Profile}, {Name: "environment", Value: r.Run.Environment},
			{Name: "target", Value: r.Run.Target}, {Name: "run", Value: r.Run.ID}}
		for _, x := range r.Thresholds {
			add(junitThreshold(x, e.Outcome))
		}
		for _, c := range r.Integrity {
			add(junitIntegrity(c, e.Outcome))
		}
		for _, v := range r.Validity {
			add(junitValidity(v))
		}
	}
	add(junitVerdict(e))
	return suite
}

func junitThreshold(x result.Threshold, outcome string) junit.Case {
	c := junit.Case{Name: fmt.Sprintf("threshold %s %s %s", x.Operation, x.Metric, x.Expression)}
	if x.OK {
		return c
	}
	measured, required := words(x)
	broken(&c, "threshold", fmt.Sprintf("%s: %s, %s", x.Operation, measured, required), outcome)
	return c
}

func junitIntegrity(i result.Integrity, outcome string) junit.Case {
	c := junit.Case{Name: "integrity " + i.Check}
	switch {
	case i.OK == nil:
		c.Skipped = &junit.Message{Message: "could not be checked: " + i.Detail}
	case i.Known != "":
		c.Skipped = &junit.Message{Message: i.Detail}
	case i.IsBroken():
		broken(&c, "integrity", i.Detail, outcome)
	}
	return c
}

// broken makes a case a failure if the scenario failed; otherwise the case does not decide, and is skipped.
func broken(c *junit.Case, kind, text, outcome string) {
	if outcome == run.Fail {
		c.Failure = &junit.Fault{Message: text, Type: kind, Text: text}
	} else {
		c.Skipped = &junit.Message{Message: text + "; the verdict is " + outcome}
	}
}

func junitValidity(v result.Validity) junit.Case {
	c := junit.Case{Name: "validity " + v.Check}
	switch {
	case v.OK == nil:
		c.Skipped = &junit.Message{Message: "could not be checked: " + v.Detail}
	case !*v.OK:
		c.Skipped = &junit.Message{Message: "inconclusive: " + v.Detail}
	}
	return c
}

func junitVerdict(e Entry) junit.Case {
	c := junit.Case{Name: "verdict"}
	why := strings.Join(result.Texts(e.Reasons), "; ")
	switch e.Outcome {
	case run.Pass:
	case run.LeftOut:
		c.Skipped = &junit.Message{Message: run.LeftOut + ": " + why}
	case run.Fail:
		c.Failure = &junit.Fault{Message: why, Type: run.Fail, Text: why}
	default: // CI counts skipped cases as green
		c.Error = &junit.Fault{Message: e.Outcome + ": " + why, Type: e.Outcome, Text: why}
	}
	return c
}
