// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"slices"
	"strings"
	"testing"
)

func TestMisspelt(t *testing.T) {
	for _, c := range []struct {
		environ []string
		want    string
	}{
		{[]string{"ROUND_TRIP=7"}, "ROUND_TRIP: no such variable; did you mean ROUND_TRIPS? docs/profiles.md lists them"},
		{[]string{"CLIENT=7"}, "CLIENT: no such variable; did you mean CLIENTS?"},
		{[]string{"PROTOCOLL=trojan"}, "did you mean PROTOCOL?"},
		{[]string{"ROUND_TRIP="}, ""},
		{[]string{"ROUND_TRIPS=7", "CLIENTS=3", "PROFILE=quick"}, ""},
		// Everybody's, which are near to ours.
		{[]string{"USER=me", "NAME=x", "PAGER=less", "VERSION=1", "HOME=/", "PATH=/bin", "TIME=%e", "path=/x", "GOPROXY=x"}, ""},
		// Two letters are too many, unless make was told.
		{[]string{"CANDIDATTTE=x"}, ""},
		{[]string{"MAKEFLAGS= --no-print-directory -- CANDIDATTTE=x PROFILE=quick"}, "CANDIDATTTE: no such variable; did you mean CANDIDATE?"},
		{[]string{"MAKEFLAGS=s -- CC=clang ROUND_TRIPS=7"}, ""},
		{[]string{"MAKEFLAGS=--jobserver-auth=3,4"}, ""},
		{[]string{"RELAYS_PASSWORD=x", "PANELS_URL=x"}, "PANELS_URL: no such variable; did you mean PANEL_URL?"},
	} {
		if got := Misspelt(c.environ, []string{"RELAYS_PASSWORD"}); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%q: %q", c.environ, got)
		}
	}
	if got := Misspelt([]string{"PANELS_URL=x"}, []string{"PANELS_URL"}); got != "" {
		t.Errorf("exempt: %q", got)
	}
}

func TestUnread(t *testing.T) {
	environ := []string{"ROUND_TRIPS=7", "USERS=", "PROFILE=quick", "PANEL_PASSWORD=x", "TUNNELS=10", "A=x"}
	for _, c := range []struct{ scenarios, want string }{
		{"pulsar/ingest", "not used by what runs: ROUND_TRIPS (of dataplane/socks-tcp, dataplane/socks-udp, dataplane/tproxy), TUNNELS (of dataplane/concurrency, protocols/matrix)"},
		{"dataplane/socks-tcp dataplane/concurrency", ""},
		{"dataplane/socks-udp", "not used by what runs: TUNNELS (of dataplane/concurrency, protocols/matrix)"},
	} {
		if got := Unread(environ, strings.Fields(c.scenarios)); got != c.want {
			t.Errorf("%s: %q", c.scenarios, got)
		}
	}
}

func TestListIsWhole(t *testing.T) {
	for i, v := range All {
		if v.What == "" || len(v.Of) == 0 || i > 0 && All[i-1].Name >= v.Name {
			t.Errorf("%+v", v)
		}
		if slices.Contains(others, v.Name) {
			t.Errorf("%s is ours", v.Name)
		}
	}
}
