// SPDX-License-Identifier: AGPL-3.0-only

package influx

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
)

func TestVariables(t *testing.T) {
	for value, want := range map[string]string{
		"":                              "",
		"http://127.0.0.1:8086":         "",
		"https://influx.example.net/db": "",
		"127.0.0.1:8086":                "is no base URL",
		"influx":                        "is no base URL",
		"http://":                       "is no base URL",
		"ftp://host":                    "is no base URL",
		"http://host:port":              "is no base URL",
		"http://me:geheim@host":         "holds a login",
		"http://host?db=x":              "has more than an address",
	} {
		_, err := FromEnvironment(func(name string) string {
			if name == VariableURL {
				return value
			}
			return ""
		})
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v", value, err)
		case err != nil && strings.Contains(err.Error(), "geheim"):
			t.Errorf("%q: the password is shown: %v", value, err)
		}
	}
}

func TestAPointIsOneLine(t *testing.T) {
	number := 2.5
	var missing *float64
	var b Batch
	b.Add("verdicts", Tags{"reason": "two\nlines, a=b \\", "none": ""}, Fields{
		"text": "said \"no\"", "value": &number, "absent": missing, "nan": math.NaN(), "inf": math.Inf(1), "ok": int64(1)}, time.Unix(12, 999))
	b.Add("nothing", Tags{"a": "b"}, Fields{"value": missing}, time.Unix(13, 0))
	want := `verdicts,reason=two\ lines\,\ a\=b ok=1i,text="said \"no\"",value=2.5 12000` + "\n"
	if got := b.Lines(); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestSeconds(t *testing.T) {
	var s Seconds
	for _, second := range []int64{5, 7, 3, 4, 100, 6, 7} {
		s.Add(second)
	}
	if got := s.String(); got != "3-7,100-100" || s.Count() != 6 {
		t.Errorf("%s, %d", got, s.Count())
	}
	s.Union(ParseSeconds("8-50,x,9-1,99-99"))
	if got := s.String(); got != "3-50,99-100" || ParseSeconds(got).String() != got {
		t.Error(got)
	}
	s.Union(ParseSeconds("1-200"))
	if got := s.String(); got != "1-200" {
		t.Error(got)
	}
	if got := ParseSeconds("").Count(); got != 0 {
		t.Error(got)
	}
}

func TestReportsAreReadFromTheLog(t *testing.T) {
	var text bytes.Buffer
	log := logrus.New()
	log.Out, log.Formatter = &text, &logrus.JSONFormatter{}
	missing := ParseSeconds("60-69,80-80")
	Report{Warning: "InfluxDB is away"}.Log(log)
	Report{Missing: &missing}.Log(log)
	Report{Missing: &Seconds{}}.Log(log)
	Report{Notice: "the clock was set back"}.Log(log)
	log.WithField("source", "console").Warn(`{"output":"windtunnel","trouble":"a script's own"}`)
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	for i, want := range []Report{{Warning: "InfluxDB is away"}, {Missing: &missing}, {Missing: &Seconds{}}, {Notice: "the clock was set back"}} {
		got, ok := ReadReport(lines[i])
		if !ok || got.Warning != want.Warning || got.Notice != want.Notice || (got.Missing == nil) != (want.Missing == nil) ||
			got.Missing != nil && got.Missing.String() != want.Missing.String() {
			t.Errorf("%s: %+v", lines[i], got)
		}
	}
	if r, ok := ReadReport(lines[4]); ok {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(lines[1], "InfluxDB misses 11 seconds, from 00:01:00 to 00:01:20 UTC") {
		t.Error(lines[1])
	}
}
