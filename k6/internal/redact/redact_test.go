// SPDX-License-Identifier: AGPL-3.0-only

package redact

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestRedactionIsTheSidecars has the same cases as the test of the sidecar's redactor.
func TestRedactionIsTheSidecars(t *testing.T) {
	data, err := os.ReadFile("../../../tests/fixtures/redaction.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Secrets     []string
		Text, Clean string
	}
	if err := json.Unmarshal(data, &cases); err != nil || len(cases) < 10 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		if got := Tokens(New(c.Secrets).Text(c.Text)); got != c.Clean {
			t.Errorf("%q: %s, not %s", c.Secrets, got, c.Clean)
		}
	}
}

func TestRedactorKnowsTheEncodingsOfJavaScript(t *testing.T) {
	r := New([]string{"a'b(c)! d~*", "x<y>&z\"\\"})
	for _, text := range []string{"a'b(c)!%20d~*", `x<y>&z\"\\`, "x%3Cy%3E%26z%22%5C", `x\u003cy\u003e\u0026z\"\\`} {
		if got := r.Text(text); got != known.Mask {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func TestRedactorKnowsThePasswordInAURL(t *testing.T) {
	r := New([]string{"mysql+pymysql://panel:p%40ss%20word@127.0.0.1:3306/panel"})
	for text, want := range map[string]string{
		"connect mysql+pymysql://panel:p%40ss%20word@127.0.0.1:3306/panel": "connect [secret]",
		"panel:p@ss word@tcp(127.0.0.1:3306)/panel":                        "panel:[secret]@tcp(127.0.0.1:3306)/panel",
		"panel:p%40ss%20word@tcp":                                          "panel:[secret]@tcp",
		"no secret: panel 127.0.0.1":                                       "no secret: panel 127.0.0.1",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func TestTokensAreMaskedInTheLog(t *testing.T) {
	const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln_-"
	text := "a " + jwt + " b\n{\"msg\":\"ws://h/ws?token=opaque-1\\u0026topic=t\"}\nurl?access_token=opaque-2&x=1 c\nno end " + jwt
	want := "a [secret] b\n{\"msg\":\"ws://h/ws?token=[secret]\\u0026topic=t\"}\nurl?access_token=[secret]&x=1 c\nno end [secret]"
	for size := 1; size < len(text); size++ {
		var b bytes.Buffer
		w := &tokenWriter{w: &b}
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil || b.String() != want {
			t.Fatalf("in writes of %d: %v %q", size, err, b.String())
		}
	}
}

func TestResultKeepsAllButItsFreeText(t *testing.T) {
	r := New([]string{"requests", "1234", `qu"ote`})
	for text, want := range map[string]string{
		`{ "requests": 1234, "verdict": "requests" }`:                                                           `{ "requests": 1234, "verdict": "requests" }`,
		`{"reasons": ["no requests", "fine", "a\\qu\"ote\\" ], "x": 1.50}`:                                      `{"reasons": ["no [secret]", "fine", "a\\[secret]\\" ], "x": 1.50}`,
		`{"reasons": [{"kind": "requests", "text": "no requests", "all": ["1234"]}]}`:                           `{"reasons": [{"kind": "requests", "text": "no [secret]", "all": ["[secret]"]}]}`,
		`{"validity":[{"check":"requests","ok":null,"detail":"requests <1>"}]}`:                                 `{"validity":[{"check":"requests","ok":null,"detail":"[secret] <1>"}]}`,
		`{"run":{"id":"requests","parameters":{"requests":"requests","n":1234}}}`:                               `{"run":{"id":"requests","parameters":{"requests":"[secret]","n":1234}}}`,
		`{"run":{"target":"http://h?token=abc","testbed":{"variables":{"a":"\u0031234"}}}}`:                     `{"run":{"target":"http://h?token=[secret]","testbed":{"variables":{"a":"[secret]"}}}}`,
		`{"sections":[{"name":"requests","finding":"requests","notes":["1234"],"headline":{"of":"requests"}}]}`: `{"sections":[{"name":"requests","finding":"[secret]","notes":["[secret]"],"headline":{"of":"[secret]"}}]}`,
		`{"integrity":[{"check":"requests","detail":"of 1234"}]}`:                                               `{"integrity":[{"check":"requests","detail":"of [secret]"}]}`,
		`{"sections":[{"columns":[{"name":"requests"}],"rows":[["BY ' requests '",1234,{"value":1234}]]}]}`:     `{"sections":[{"columns":[{"name":"requests"}],"rows":[["BY ' [secret] '",1234,{"value":1234}]]}]}`,
	} {
		got, err := r.result([]byte(text))
		if err != nil || string(got) != want {
			t.Errorf("%s: %v %s", text, err, got)
		}
	}
	for _, bad := range []string{"", "{", `{"a":1} x`} {
		if _, err := r.result([]byte(bad)); err == nil {
			t.Errorf("%q is JSON", bad)
		}
	}
}

func TestRedactorAcrossWrites(t *testing.T) {
	r := New([]string{"s3cret/value", "s3cret/value-longer", "abc"})
	text := "a s3cret/value-longer b s3cret%2Fvalue c s3cret/value, abc, " + strings.Repeat("x", 100) + "s3cret/valu"
	want := "a [secret] b [secret] c [secret], abc, " + strings.Repeat("x", 100) + "s3cret/valu"
	for size := 1; size < len(text); size++ {
		var b bytes.Buffer
		w := r.Writer(&b)
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Fatalf("in writes of %d: %q", size, b.String())
		}
	}
	var b bytes.Buffer
	w := New(nil).Writer(&b)
	_, _ = w.Write([]byte("plain"))
	if b.String() != "plain" {
		t.Errorf("without secrets nothing is held back, got %q", b.String())
	}
}

func TestASecretHidesNoName(t *testing.T) {
	r := New([]string{"pulsar", "relay", "s3cret-of-mine"}, "pulsar", "pulsar-relay", "local")
	for text, want := range map[string]string{
		"pulsar: http://127.0.0.1:1 refused user me: wrong user name or password": "pulsar: http://127.0.0.1:1 refused user me: wrong user name or password",
		"testbed pulsar-relay did not start":                                      "testbed pulsar-relay did not start",
		"s3cret-of-mine":                                                          known.Mask,
		"mysql://panel:pulsar@127.0.0.1/panel":                                    "mysql://panel" + known.Mask + "127.0.0.1/panel",
		"username=me&password=relay":                                              "username=me&" + known.Mask,
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
