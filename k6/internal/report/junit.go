// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"encoding/xml"
	"fmt"
	"strings"

	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property,omitempty"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	Time      string        `xml:"time,attr"`
	Skipped   *junitMessage `xml:"skipped"`
	Error     *junitFault   `xml:"error"`
	Failure   *junitFault   `xml:"failure"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
}

type junitFault struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the report as JUnit XML: a suite per scenario, a case per threshold and per check of
// the data (where it did not hold a failure if the scenario failed, else skipped: it does not decide),
// per validity check (skipped where the numbers cannot be believed or it could not be made), and for
// the verdict, which is skipped where the scenario was left out, and an error where it neither passed nor
// failed.
func JUnit(set Set, _ Options) ([]byte, error) {
	all := junitSuites{Name: "windtunnel " + runID(set)}
	seconds := 0.0
	for _, e := range set.Entries() {
		suite := junitOf(e)
		all.Suites = append(all.Suites, suite)
		all.Tests += suite.Tests
		all.Failures += suite.Failures
		all.Errors += suite.Errors
		if e.Result != nil {
			seconds += e.Result.Run.DurationS
		}
	}
	all.Time = junitTime(seconds)
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, err
	}
	return []byte(xml.Header + string(data) + "\n"), nil
}

func junitOf(e Entry) junitSuite {
	suite := junitSuite{Name: e.Name, Time: junitTime(0)}
	add := func(c junitCase) {
		c.ClassName, c.Time = strings.ReplaceAll(e.Name, "/", "."), junitTime(0)
		suite.Tests++
		switch {
		case c.Failure != nil:
			suite.Failures++
		case c.Error != nil:
			suite.Errors++
		case c.Skipped != nil:
			suite.Skipped++
		}
		suite.Cases = append(suite.Cases, c)
	}
	if r := e.Result; r != nil {
		suite.Time = junitTime(r.Run.DurationS)
		suite.Timestamp = r.Run.Start.UTC().Format("2006-01-02T15:04:05")
		suite.Properties = []junitProperty{{"profile", r.Run.Profile}, {"environment", r.Run.Environment},
			{"target", r.Run.Target}, {"run", r.Run.ID}}
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

func junitThreshold(x result.Threshold, outcome string) junitCase {
	c := junitCase{Name: fmt.Sprintf("threshold %s %s %s", x.Operation, x.Metric, x.Expression)}
	if x.OK {
		return c
	}
	measured, required := words(x)
	c.broken("threshold", fmt.Sprintf("%s: %s, %s", x.Operation, measured, required), outcome)
	return c
}

func junitIntegrity(i result.Integrity, outcome string) junitCase {
	c := junitCase{Name: "integrity " + i.Check}
	switch {
	case i.OK == nil:
		c.Skipped = &junitMessage{"could not be checked: " + i.Detail}
	case !*i.OK:
		c.broken("integrity", i.Detail, outcome)
	}
	return c
}

// broken makes a case a failure where the scenario failed; elsewhere it does not decide.
func (c *junitCase) broken(kind, text, outcome string) {
	if outcome == run.Fail {
		c.Failure = &junitFault{text, kind, text}
	} else {
		c.Skipped = &junitMessage{text + "; the verdict is " + outcome}
	}
}

func junitValidity(v result.Validity) junitCase {
	c := junitCase{Name: "validity " + v.Check}
	switch {
	case v.OK == nil:
		c.Skipped = &junitMessage{"could not be checked: " + v.Detail}
	case !*v.OK:
		c.Skipped = &junitMessage{"inconclusive: " + v.Detail}
	}
	return c
}

func junitVerdict(e Entry) junitCase {
	c := junitCase{Name: "verdict"}
	why := strings.Join(result.Texts(e.Reasons), "; ")
	switch e.Outcome {
	case run.Pass:
	case run.LeftOut:
		c.Skipped = &junitMessage{run.LeftOut + ": " + why}
	case run.Fail:
		c.Failure = &junitFault{why, run.Fail, why}
	default: // CI counts what is skipped as green
		c.Error = &junitFault{e.Outcome + ": " + why, e.Outcome, why}
	}
	return c
}

func junitTime(seconds float64) string { return fmt.Sprintf("%.3f", seconds) }
