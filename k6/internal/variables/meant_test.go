// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"slices"
	"strings"
	"testing"
)

func TestMisspelt(t *testing.T) {
	for flags, want := range map[string]string{
		" -- ROUND_TRIP=7": "ROUND_TRIP: no such variable; did you mean ROUND_TRIPS? docs/reference/variables.md lists them",
		" --no-print-directory -- CANDIDATTTE=x PROFILE=quick": "CANDIDATTTE: no such variable; did you mean CANDIDATE? docs/reference/variables.md lists them",
		"s -- CLIENT:=7":                          "CLIENT: no such variable; did you mean CLIENTS? docs/reference/variables.md lists them",
		"s -- CC=clang ROUND_TRIPS=7 CLIENTS=":    "",
		"-- CLEINTS=7":                            "CLEINTS: no such variable; did you mean CLIENTS? docs/reference/variables.md lists them",
		"--jobserver-auth=3,4":                    "",
		`-- VERSIONS=A=1\ CLIENT=x\ ROUND_TRIP=7`: "",
		// Variables of an outer make.
		"-- NAME=x USER=me DATE=1 TIME=2 MAX=3 NODE=4 PACKAGES=5 VERSION=6": "",
	} {
		if got := Misspelt([]string{"HOME=/", "MAKEFLAGS=" + flags}); got != want {
			t.Errorf("%q: %q", flags, got)
		}
	}
	if got := Misspelt([]string{"ROUND_TRIP=7"}); got != "" {
		t.Errorf("of the environment: %q", got)
	}
}

func TestNear(t *testing.T) {
	environ := []string{
		"ROUND_TRIP=7", "CLIENT=", "ROUND_TRIPS=7", "USER=me", "NAME=x", "PAGER=less", "VERSION=1", "PATH=/bin", "path=/x",
		"GOPROXY=x", "CANDIDATTTE=x", "CLEINTS=7", "RELAYS_PASSWORD=x", "PANELS_URL=x",
	}
	want := []string{
		"ROUND_TRIP is set, and nothing reads it; was ROUND_TRIPS meant?",
		"CLEINTS is set, and nothing reads it; was CLIENTS meant?",
		"PANELS_URL is set, and nothing reads it; was PANEL_URL meant?",
	}
	if got := Near(environ, []string{"RELAYS_PASSWORD"}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := Near(environ, []string{"PANELS_URL"}); !slices.Equal(got, want[:2]) {
		t.Errorf("%q", got)
	}
}

func TestMisspeltFlag(t *testing.T) {
	const want = "ROUND_TRIP: no such variable; did you mean ROUND_TRIPS? docs/reference/variables.md lists them"
	for args, says := range map[string]string{
		"run -e ROUND_TRIP=7 x.js":                 want,
		"run --env ROUND_TRIP=7 x.js":              want,
		"run --env=ROUND_TRIP=7 x.js":              want,
		"run -eROUND_TRIP=7 x.js":                  want,
		"run -e ROUND_TRIP x.js":                   want, // its value comes from the environment
		"run -e ROUND_TRIPS=7 -e ROUND_TRIP=7 x":   want,
		"run -e ROUND_TRIPS=7 -e MY_OWN=7 x.js":    "",
		"run -e":                                   "",
		"run ROUND_TRIP=7":                         "",
		"x bench --env local -- -e ROUND_TRIP=7":   "",
		"x bench --env local --environ ROUND_TRIP": "",
	} {
		if got := MisspeltFlag(strings.Fields(args)); got != says {
			t.Errorf("%s: %q", args, got)
		}
	}
}

func TestUnread(t *testing.T) {
	environ := []string{"ROUND_TRIPS=7", "USERS=", "PROFILE=quick", "PANEL_PASSWORD=x", "TUNNELS=10"}
	for _, c := range []struct{ scenarios, want string }{
		{"pulsar/ingest", "not used by what runs: ROUND_TRIPS (of dataplane/socks-tcp, dataplane/socks-udp, udp/nat, dataplane/tproxy), TUNNELS (of dataplane/concurrency, protocols/matrix)"},
		{"dataplane/socks-tcp dataplane/concurrency", ""},
		{"dataplane/socks-udp", "not used by what runs: TUNNELS (of dataplane/concurrency, protocols/matrix)"},
		{"dataplane/socks-udp dataplane/of-my-own", ""},
	} {
		if got := Unread(environ, strings.Fields(c.scenarios), nil); got != c.want {
			t.Errorf("%s: %q", c.scenarios, got)
		}
	}
}

func TestAnUnknownVariableOfMakeIsNamed(t *testing.T) {
	environ := []string{`MAKEFLAGS=s -- COUNT=5 PROFILE=smoke OF_MINE=x\ y RELAY_PASSWORD=z K6_OUT=csv GOFLAGS=-v HTTP_PROXY=x CC=gcc`, "COUNT=5", "ELSEWHERE=1"}
	if got := Unread(environ, []string{"pulsar/ingest"}, []string{"RELAY_PASSWORD"}); got != "not used by what runs: COUNT (no such variable), OF_MINE (no such variable)" {
		t.Errorf("%q", got)
	}
	if got := Unread(environ, []string{"pulsar/of-my-own"}, nil); got != "" {
		t.Errorf("a script of the user's own: %q", got)
	}
}

func TestWhatOnlyMakeReadsIsNamed(t *testing.T) {
	if got := Unread([]string{"SCENARIO=pulsar/ingest"}, []string{"pulsar/ingest"}, nil); got != "not used by what runs: SCENARIO (of make)" {
		t.Errorf("%q", got)
	}
}
