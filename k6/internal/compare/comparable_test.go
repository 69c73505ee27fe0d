// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/testbed"
)

func TestIncomparableAreRefused(t *testing.T) {
	for want, change := range map[string]func(*result.Result){
		"": func(r *result.Result) {
			r.Run.Testbed.Name, r.Run.Testbed.Variables["queue"] = "other", 128.0
			r.Run.Versions["proxy"] = "2"
		},
		"scenario":                               func(r *result.Result) { r.Run.Scenario = "socks-udp" },
		"profile":                                func(r *result.Result) { r.Run.Profile = "smoke" },
		"parameter payload_bytes (1024 and 512)": func(r *result.Result) { r.Run.Parameters["payload_bytes"] = 512.0 },
		"parameter window (— and 4)":             func(r *result.Result) { r.Run.Parameters["window"] = 4.0 },
		"placement":                              func(r *result.Result) { r.Run.Placement.SystemCPUs = "0" },
		`placement ({"name":"shared"`:            func(r *result.Result) { r.Run.Placement = nil },
		"parameter limits (— and cpu:50%)":       func(r *result.Result) { r.Run.Parameters["limits"] = "cpu:50%" },
		"host":                                   func(r *result.Result) { r.Run.Host.Kernel = "k2" },
		"windtunnel version (0.1.0 and 0.2.0)":   func(r *result.Result) { r.Run.Versions["windtunnel"] = "0.2.0" },
	} {
		q := pairsOf(2, noise(1), noise(2))
		for i := range q.B {
			change(q.B[i].Result)
		}
		got := Refusal(q.A, q.B, noBeds)
		if want == "" && got != "" || !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	q := pairsOf(2, noise(1), noise(2))
	q.A[1].Result.Run.Testbed.Variables["queue"] = 1.0
	if got := Refusal(q.A, q.B, noBeds); !strings.Contains(got, "the runs of A are not of one thing: they differ in testbed variables") {
		t.Error(got)
	}
	// Settings that differ show in the first pair: no further pair is measured.
	q = pairsOf(1, noise(1), noise(2))
	if q.differ() {
		t.Error("equal settings differ")
	}
	q.B[0].Result.Run.Parameters["auth"] = false
	if !q.differ() {
		t.Error("settings that differ are not seen")
	}
	// A port is recognized by its type, whatever its name.
	q = pairsOf(2, noise(1), noise(2))
	q.A[1].Result.Run.Testbed.Variables["inlet"] = 7.0
	ports := func(string) testbed.Testbed {
		return testbed.Testbed{Variables: map[string]testbed.Variable{"inlet": {Type: "port"}, "socks_port": {Type: "port"}}}
	}
	if Refusal(q.A, q.B, noBeds) == "" || Refusal(q.A, q.B, ports) != "" {
		t.Error("the type of a port is not seen")
	}
}

// overALink makes a result's run use a link.
func overALink(r *result.Result) {
	cubic, rate := "cubic", int64(50_000_000)
	end := result.LinkEnd{Address: "198.18.2.1", Settings: result.NetworkSettings{CongestionControl: &cubic}}
	side := result.LinkSide{Burst: 1, Queue: result.LinkQueue{Bytes: &rate}}
	r.Run.Link = &result.Link{Text: "far", Title: "180 ms", Seed: 7, MTU: 1500, Near: end, Far: end,
		Settings: result.LinkSettings{Up: side, Down: side}}
	r.Run.Link.Settings.Up.RateBitS = &rate
	r.Run.Parameters["link"] = "far"
}

// TestUnlikeLinksAreRefused has sides over links that differ in one property.
func TestUnlikeLinksAreRefused(t *testing.T) {
	bbr := "bbr"
	for want, change := range map[string]func(*result.Run){
		"":                                func(r *result.Run) { r.Link.Near.Address, r.Link.Title = "198.18.6.1", "another" },
		"parameter link (far and —)":      func(r *result.Run) { r.Link = nil; delete(r.Parameters, "link") },
		"parameter link (far and lossy)":  func(r *result.Run) { r.Parameters["link"] = "lossy" },
		`settings of the link ({"seed":7`: func(r *result.Run) { r.Link.Seed = 2 },
		`"rate_bit_s":50000000`:           func(r *result.Run) { r.Link.Settings.Up.RateBitS = nil },
		`"loss":0.01`:                     func(r *result.Run) { r.Link.Settings.Down.Loss = 0.01 },
		`settings of the link's ends ({"near":{"tcp_congestion_control":"cubic"`: func(r *result.Run) {
			r.Link.Far.Settings.CongestionControl = &bbr
		},
	} {
		q := pairsOf(2, noise(1), noise(2))
		for i := range q.B {
			overALink(q.A[i].Result)
			overALink(q.B[i].Result)
			change(&q.B[i].Result.Run)
		}
		if got := Refusal(q.A, q.B, noBeds); want == "" && got != "" || !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAComparisonTellsItsLink(t *testing.T) {
	q := pairsOf(2, noise(1), noise(2))
	for _, m := range append(slices.Clone(q.A), q.B...) {
		overALink(m.Result)
	}
	c := Make(q)
	if c.Link == nil || c.Link.Seed != 7 {
		t.Fatalf("%+v", c.Link)
	}
	text := fmt.Sprint(c.same())
	for _, want := range []string{"[Link far (180 ms), seed 7]", "[Kernel settings of the near end congestion control cubic]"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(text, "[link far]") {
		t.Errorf("its words are there twice: %s", text)
	}
}

func TestRunsThatWereStreamedAndOthersAreToldApart(t *testing.T) {
	folder := func(name string, record *run.Run) string {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile("../report/testdata/run/pulsar-ingest.json")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "pulsar-ingest.json"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		if record != nil {
			record.Schema, record.ID = run.Schema, name
			record.Scenarios = []run.Scenario{{System: "pulsar", Scenario: "ingest", Outcome: run.Pass, Result: "pulsar-ingest.json"}}
			if err := record.Write(dir); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	yes, no, unknown := folder("yes", &run.Run{Streamed: true}), folder("no", &run.Run{}), folder("unknown", nil)
	const note = "the runs differ in streaming to InfluxDB (streamed and not streamed)"
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{yes, no, true},
		{filepath.Join(yes, "pulsar-ingest.json"), no, true},
		{yes, yes, false},
		{no, no, false},
		{yes, unknown, false},
	} {
		a, err := Load([]string{c.a}, "")
		if err != nil {
			t.Fatal(err)
		}
		b, err := Load([]string{c.b}, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(Make(Request{A: a, B: b, Beds: noBeds}).Notes, note); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

func TestSettingsOfTheHostMustAgreeWhereTheyAreKnown(t *testing.T) {
	with := func(q Request, side, run int, congestionControl string) {
		own := *[][]Measured{q.A, q.B}[side][run].Result.Run.Host
		own.Settings = &result.Settings{NetworkSettings: result.NetworkSettings{CongestionControl: &congestionControl, SOMaxConn: new(int64(4096))}}
		[][]Measured{q.A, q.B}[side][run].Result.Run.Host = &own
	}
	q := pairsOf(4, noise(1), noise(2))
	with(q, 0, 0, "bbr")
	if got := Refusal(q.A, q.B, noBeds); got != "" {
		t.Errorf("beside results from before they were recorded: %s", got)
	}
	with(q, 1, 2, "cubic")
	if got := Refusal(q.A, q.B, noBeds); !strings.Contains(got, "they differ in settings of the host (") || !strings.Contains(got, "bbr") {
		t.Error(got)
	}
	with(q, 1, 2, "bbr")
	if got := Refusal(q.A, q.B, noBeds); got != "" {
		t.Error(got)
	}
}

func TestQuotasOfOthersMustAgreeWhereTheyAreKnown(t *testing.T) {
	quota := func(percent float64) *result.Limits {
		return &result.Limits{Generator: &result.GeneratorLimits{CPUPercent: &percent, Throttled: result.Throttled{Periods: int64(percent)}}}
	}
	none := &result.Limits{Generator: &result.GeneratorLimits{Throttled: result.Throttled{Periods: 7}}}
	contained := func(percent float64) *result.Limits {
		return &result.Limits{Generator: none.Generator, Given: &result.GivenLimits{GeneratorLimits: *quota(percent).Generator}}
	}
	for about, c := range map[string]struct {
		a, b    *result.Limits
		refused bool
	}{
		"a system in a container":     {none, contained(50), true},
		"equal containers":            {contained(50), contained(50), false},
		"a quota on one side":         {none, quota(50), true},
		"another quota":               {quota(50), quota(60), true},
		"the same":                    {quota(50), quota(50), false},
		"an old result":               {nil, quota(50), false},
		"generators that are unknown": {&result.Limits{}, quota(50), false},
	} {
		q := pairsOf(2, noise(1), noise(2))
		for i := range q.A {
			q.A[i].Result.Limits, q.B[i].Result.Limits = c.a, c.b
		}
		if got := Refusal(q.A, q.B, noBeds); strings.Contains(got, "limits that others set (") != c.refused || !c.refused && got != "" {
			t.Errorf("%s: %q", about, got)
		}
	}
}

func TestLinksMustAgree(t *testing.T) {
	over := func(seed uint64, congestionControl string) *result.Link {
		l := &result.Link{Text: "far", Seed: seed, MTU: 1500}
		l.Near.Settings.CongestionControl = &congestionControl
		return l
	}
	for name, tc := range map[string]struct {
		a, b *result.Link
		want string
	}{
		"none":         {nil, nil, ""},
		"the same":     {over(1, "bbr"), over(1, "bbr"), ""},
		"one":          {nil, over(1, "bbr"), "settings of the link (none and"},
		"another seed": {over(1, "bbr"), over(2, "bbr"), "settings of the link ("},
		"other ends":   {over(1, "bbr"), over(1, "cubic"), "settings of the link's ends ("},
	} {
		q := pairsOf(4, noise(1), noise(2))
		for side, link := range []*result.Link{tc.a, tc.b} {
			for _, run := range [][]Measured{q.A, q.B}[side] {
				run.Result.Run.Link = link
			}
		}
		if got := Refusal(q.A, q.B, noBeds); (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
