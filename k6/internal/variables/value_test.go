// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"slices"
	"strings"
	"testing"
)

func TestWrong(t *testing.T) {
	for pair, want := range map[string]string{
		"CLIENTS=1":        "",
		"CLIENTS=10000":    "",
		"CLIENTS=1e3":      "",
		"CLIENTS= 5 ":      "",
		"CLIENTS=10001":    "at most 10,000",
		"CLIENTS=0":        "a whole number from 1 to 10,000 is wanted",
		"CLIENTS=1.5":      "a whole number from 1 to 10,000 is wanted",
		"CLIENTS=-1e9":     "a whole number from 1 to 10,000 is wanted",
		"CLIENTS=many":     "a whole number from 1 to 10,000 is wanted",
		"CLIENTS=0x10":     "a whole number from 1 to 10,000 is wanted",
		"CLIENTS=NaN":      "a whole number from 1 to 10,000 is wanted",
		"CLIENTS=Inf":      "a whole number from 1 to 10,000 is wanted",
		"AGAIN=0":          "",
		"AGAIN=3":          "at most 2",
		"RATE=0.5":         "",
		"RATE=0":           "a number above 0 is wanted",
		"RATE=fast":        "a number above 0 is wanted",
		"RATE=1e6":         "at most 100,000",
		"REST_S=0":         "",
		"REST_S=0.25":      "",
		"REST_S=-1":        "a number from 0 to 10 s is wanted",
		"REST_S=11":        "at most 10 s",
		"WAIT=spin":        "",
		"WAIT=spni":        "choose one of block, spin, yield",
		"TUNNELS=10, 100":  "",
		"TUNNELS=0":        "different whole numbers from 1 to 4,096 are wanted, with commas between them",
		"TUNNELS=10,10":    "different whole numbers from 1 to 4,096 are wanted, with commas between them",
		"TUNNELS=10,1.5":   "different whole numbers from 1 to 4,096 are wanted, with commas between them",
		"TUNNELS=10,":      "different whole numbers from 1 to 4,096 are wanted, with commas between them",
		"DIRECTIONS=up":    "",
		"DIRECTIONS=in":    "choose from up, down, both, each once",
		"DIRECTIONS=up,up": "choose from up, down, both, each once",
		"VALUES=a,b":       "",
		"DURATION=90":      "",
		"DURATION=1.5m":    "",
		"DURATION=24h":     "",
		"DURATION=25h":     "write it as 90s, 5m or 1h, at most 24h",
		"DURATION=0s":      "write it as 90s, 5m or 1h, at most 24h",
		"DURATION=5 min":   "write it as 90s, 5m or 1h, at most 24h",
		"INFLUX=anything":  "",
		"OF_MY_OWN=7":      "",
		"OF_MY_OWN=1.5":    "a whole number from 1 to 10,000,000 is wanted",
		"OF_MY_OWN=1e9":    "at most 10,000,000",
	} {
		name, text, _ := strings.Cut(pair, "=")
		if want != "" {
			want = pair + ": " + want
		}
		if got := Wrong(name, text, true); got != want {
			t.Errorf("%s: %q, want %q", pair, got, want)
		}
	}
	if got := Wrong("OF_MY_OWN", "1.5", false); got != "" {
		t.Error(got)
	}
	if got := Wrong("OF_MY_OWN", "0", false); got != "OF_MY_OWN=0: a number above 0 is wanted" {
		t.Error(got)
	}
}

func TestWrongValuesAreOfWhatRuns(t *testing.T) {
	environ := []string{"CLIENTS=0", "WAIT=spni", "AGAIN=9", "MESSAGES=", "MODE=x", "PAIRS=0", "RATE=1", "RATE=0"}
	for scenario, want := range map[string]string{
		"pulsar/ingest":       "AGAIN CLIENTS RATE",
		"dataplane/handshake": "AGAIN RATE WAIT",
		"dataplane/mine":      "AGAIN WAIT",
	} {
		var names []string
		for _, line := range WrongValues(environ, []string{scenario}) {
			name, _, _ := strings.Cut(line, "=")
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s", scenario, got)
		}
	}
	if got := WrongValues([]string{"PROFILE=quick", "PROFILE=x"}, nil); !slices.Equal(got, []string{"PROFILE=x: choose one of smoke, quick, full, soak, stress, spike, breakpoint"}) {
		t.Errorf("%q", got)
	}
}
