// SPDX-License-Identifier: AGPL-3.0-only

package environment

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"windtunnel/k6/internal/environment"
)

func read(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("../../../tests/fixtures/" + name)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestProblems(t *testing.T) {
	var fixture struct {
		Base struct {
			Schema  string                    `json:"schema"`
			Name    string                    `json:"name"`
			Systems map[string]map[string]any `json:"systems"`
		} `json:"base"`
		Cases []struct {
			Case   string         `json:"case"`
			System string         `json:"system"`
			Change map[string]any `json:"change"`
			Field  *string        `json:"field"`
		} `json:"cases"`
	}
	read(t, "environments.json", &fixture)
	for _, c := range fixture.Cases {
		if c.System == "" {
			c.System = "pulsar"
		}
		system := maps.Clone(fixture.Base.Systems[c.System])
		maps.Copy(system, c.Change)
		maps.DeleteFunc(system, func(_ string, value any) bool { return value == nil })
		text, err := json.Marshal(map[string]any{"schema": fixture.Base.Schema, "name": fixture.Base.Name,
			"systems": map[string]any{c.System: system}})
		if err != nil {
			t.Fatal(err)
		}
		got := Problems(string(text))
		all := strings.Join(got, "\n")
		switch {
		case c.Field == nil && len(got) > 0:
			t.Errorf("%s: %s", c.Case, all)
		case c.Field != nil && (len(got) == 0 || !strings.HasPrefix(got[0], *c.Field)):
			t.Errorf("%s: %q, want %s", c.Case, got, *c.Field)
		case strings.Contains(all, "hunter2"):
			t.Errorf("%s: a secret is shown", c.Case)
		}
	}
	if got := Problems(`{ "schema": `); len(got) != 1 || !strings.HasPrefix(got[0], "not valid JSON: ") {
		t.Error(got)
	}
}

func TestLoopbackIsLoopback(t *testing.T) {
	hosts := map[string]json.RawMessage{}
	read(t, "loopback.json", &hosts)
	for name, want := range map[string]bool{"this machine": true, "another": false} {
		var all []string
		if err := json.Unmarshal(hosts[name], &all); err != nil || len(all) == 0 {
			t.Fatal(name, err)
		}
		for _, host := range all {
			if environment.IsLoopback(host) != want {
				t.Errorf("%s: %v", host, !want)
			}
		}
	}
}
