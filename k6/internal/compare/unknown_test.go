// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/contents"
	"windtunnel/k6/internal/result"
)

// changed changes each run of both sides. The runs are no pairs if apart is set.
func changed(apart bool, change func(*result.Run)) Request {
	q := pairsOf(2, noise(1), noise(2))
	for _, runs := range [][]Measured{q.A, q.B} {
		for i := range runs {
			if apart {
				runs[i].Pair = 0
			}
			change(&runs[i].Result.Run)
		}
	}
	return q
}

func TestAFactThatIsUnknownInAllRunsEqualsNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*result.Run)
		want   string // "" if all facts are known
	}{
		"all is known":                 {func(*result.Run) {}, ""},
		"no host":                      {func(r *result.Run) { r.Host = nil }, "unknown is the host (a1, a2, b1 and 1 more run)"},
		"no CPU model":                 {func(r *result.Run) { r.Host.CPUModel = "unknown" }, "unknown is the host's CPU model (a1"},
		"an architecture for a model":  {func(r *result.Run) { r.Host.CPUModel = "aarch64" }, "unknown is the host's CPU model (a1"},
		"no number of CPUs":            {func(r *result.Run) { r.Host.CPUs = nil }, "unknown is the host's number of CPUs (a1"},
		"no memory":                    {func(r *result.Run) { r.Host.MemoryBytes = nil }, "unknown is the host's memory (a1"},
		"no memory in an older result": {func(r *result.Run) { r.Host.MemoryBytes = new(int64(0)) }, "unknown is the host's memory (a1"},
		"no OS and no kernel":          {func(r *result.Run) { r.Host.OS, r.Host.Kernel = "", "unknown" }, "unknown is the host's OS, the host's kernel (a1"},
		"no windtunnel version":        {func(r *result.Run) { delete(r.Versions, "windtunnel") }, "unknown is the windtunnel version (a1"},
	} {
		q := changed(true, tc.change)
		got := Refusal(q.A, q.B, noBeds)
		if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) || strings.Contains(got, "\n") {
			t.Errorf("%s, runs that took no turns: %q, want %q", name, got, tc.want)
		}
		// Runs that took turns share one machine, so the fact is noted.
		q = changed(false, tc.change)
		if got := Refusal(q.A, q.B, noBeds); got != "" {
			t.Errorf("%s, runs that took turns: %q", name, got)
		}
		noted := slices.ContainsFunc(Make(q).Notes, func(note string) bool {
			return strings.HasPrefix(note, tc.want) && strings.HasSuffix(note, "; the runs took turns on one machine")
		})
		if noted != (tc.want != "") {
			t.Errorf("%s, runs that took turns: noted %v in %q", name, noted, Make(q).Notes)
		}
	}
}

func TestAFactThatIsUnknownOnOneSideRefuses(t *testing.T) {
	for name, change := range map[string]func(*result.Run){
		"host":               func(r *result.Run) { r.Host = nil },
		"memory":             func(r *result.Run) { r.Host.MemoryBytes = nil },
		"windtunnel version": func(r *result.Run) { delete(r.Versions, "windtunnel") },
	} {
		for _, apart := range []bool{true, false} {
			q := changed(apart, func(*result.Run) {})
			for i := range q.B {
				change(&q.B[i].Result.Run)
			}
			if Refusal(q.A, q.B, noBeds) == "" {
				t.Errorf("%s: not refused, apart %v", name, apart)
			}
		}
	}
}

func TestAnUnknownFactThatIsNormalIsNoted(t *testing.T) {
	cubic := "cubic"
	settings := result.Settings{NetworkSettings: result.NetworkSettings{CongestionControl: &cubic, RMemMaxBytes: new(int64(1)),
		WMemMaxBytes: new(int64(1)), SOMaxConn: new(int64(1))}}
	whole := func(r *result.Run) {
		own := settings
		r.Host.Settings = &own
		r.Versions["k6"], r.Versions["windtunnel_revision"] = "1.0", "abc"
	}
	for want, change := range map[string]func(*result.Run){
		"": whole,
		"unknown is the settings of the host's kernel (a1, a2, b1 and 1 more run), so the runs may differ in it": func(r *result.Run) {
			whole(r)
			r.Host.Settings = nil
		},
		"unknown is the host's rmem_max, the host's wmem_max (a1": func(r *result.Run) {
			whole(r)
			r.Host.Settings.RMemMaxBytes, r.Host.Settings.WMemMaxBytes = nil, nil
		},
		"unknown is the windtunnel revision, the k6 (a1": func(r *result.Run) {
			whole(r)
			delete(r.Versions, "k6")
			delete(r.Versions, "windtunnel_revision")
		},
		"unknown is the windtunnel revision (a1": func(r *result.Run) {
			whole(r)
			r.Versions["windtunnel_revision"] = "abc-unknown"
		},
		"unknown is the version of B's system (b1, b2), so its runs may be of several builds": func(r *result.Run) {
			whole(r)
			delete(r.Versions, "proxy")
		},
	} {
		q := changed(true, change)
		if why := Refusal(q.A, q.B, noBeds); why != "" {
			t.Errorf("%q is refused: %s", want, why)
		}
		told := func(note string) bool { return strings.HasPrefix(note, "unknown is") }
		notes := Make(q).Notes
		noted := slices.ContainsFunc(notes, func(note string) bool { return want != "" && strings.HasPrefix(note, want) })
		if noted != (want != "") || want == "" && slices.ContainsFunc(notes, told) {
			t.Errorf("want %q in %q", want, notes)
		}
	}
	q := changed(true, func(r *result.Run) { whole(r); delete(r.Versions, "proxy") })
	q.ContentsA, q.ContentsB = contents.Contents{"program": strings.Repeat("a", 64)}, contents.Contents{"program": strings.Repeat("b", 64)}
	if notes := Make(q).Notes; slices.ContainsFunc(notes, func(note string) bool { return strings.Contains(note, "system") }) {
		t.Errorf("the bytes of both sides are known: %q", notes)
	}
}

func TestStreamingThatIsUnknownIsNoted(t *testing.T) {
	q := pairsOf(2, noise(1), noise(2))
	q.A[0].Streamed = new(true)
	q.A[1].Streamed = new(true)
	const want = "some runs were streamed; whether b1, b2 were is unknown"
	if notes := Make(q).Notes; !slices.Contains(notes, want) {
		t.Errorf("no %q in %q", want, notes)
	}
}

func TestAHostOfUnknownMemoryBoundsNoProcess(t *testing.T) {
	r := *oneRun(1, 1, 1)
	for _, memory := range []*int64{nil, new(int64(0))} {
		r.Run.Host.MemoryBytes = memory
		if why := impossibleMemory(r); why != "" {
			t.Error(why)
		}
	}
	r.Run.Host.MemoryBytes = new(int64(1 << 20))
	if impossibleMemory(r) == "" {
		t.Error("a process has more memory than its host, and nobody says so")
	}
}
