// SPDX-License-Identifier: AGPL-3.0-only

// Package junit writes test results as JUnit XML, which CI systems display.
package junit

import (
	"encoding/xml"
	"fmt"
)

// Suites is a file.
type Suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Time     string   `xml:"time,attr"`
	Suites   []Suite  `xml:"testsuite"`
}

// Suite is the results of one scenario.
type Suite struct {
	Name       string     `xml:"name,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Time       string     `xml:"time,attr"`
	Timestamp  string     `xml:"timestamp,attr,omitempty"`
	Properties []Property `xml:"properties>property,omitempty"`
	Cases      []Case     `xml:"testcase"`
}

// Property is a setting of a suite.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Case has passed if neither Skipped nor a Fault is set.
type Case struct {
	Name      string   `xml:"name,attr"`
	ClassName string   `xml:"classname,attr"`
	Time      string   `xml:"time,attr"`
	Skipped   *Message `xml:"skipped"`
	Error     *Fault   `xml:"error"`
	Failure   *Fault   `xml:"failure"`
}

// Message says why a case was skipped.
type Message struct {
	Message string `xml:"message,attr"`
}

// Fault says why a case failed, or why it could not be decided.
type Fault struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// Add adds a case and counts it.
func (s *Suite) Add(c Case) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// Write returns a file of suites with their total time in seconds.
func Write(name string, suites []Suite, seconds float64) ([]byte, error) {
	all := Suites{Name: name, Time: Time(seconds), Suites: suites}
	for _, s := range suites {
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, err
	}
	return []byte(xml.Header + string(data) + "\n"), nil
}

// Time formats seconds for JUnit.
func Time(seconds float64) string { return fmt.Sprintf("%.3f", seconds) }
