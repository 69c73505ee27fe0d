// SPDX-License-Identifier: AGPL-3.0-only

package primitives

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/judge"
	reports "windtunnel/k6/internal/report"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/schema"
)

// measured has the medians of rounds in nanoseconds, and bounds 1 % above and below.
func measured(subject, implementation string, bytes int64, medians ...float64) judge.Primitive {
	m := judge.Primitive{Section: "aead", Subject: subject, Operation: "encrypt", Implementation: implementation, Bytes: &bytes}
	for _, median := range medians {
		m.Rounds = append(m.Rounds, judge.Round{Median: median, Low: median * 0.99, High: median * 1.01})
	}
	return m
}

// about returns rounds around a middle, on a machine that slows down by half meanwhile.
func about(middle float64, seed, rounds int) []float64 {
	all := make([]float64, rounds)
	for i := range all {
		all[i] = middle * (1 + 0.005*float64((i*seed)%7-3)) * (1 + 0.5*float64(i)/float64(rounds))
	}
	return all
}

func report(aesTime, chachaTime float64, rounds int) []judge.Primitive {
	return []judge.Primitive{
		measured("memory", "memcpy", 1024, about(100, 3, rounds)...),
		measured(aes, "ring", 1024, about(aesTime, 3, rounds)...),
		measured(chacha, "ring", 1024, about(chachaTime, 5, rounds)...),
		measured(aes, "portable", 1024, about(200, 3, rounds)...), // without the other cipher
	}
}

func TestWinners(t *testing.T) {
	for name, c := range map[string]struct {
		aes, chacha float64
		rounds      int
		winner      string
		says        string
	}{
		"AES":                 {100, 300, 16, aes, "aes-256-gcm (3.00×)"},
		"ChaCha":              {300, 100, 16, chacha, "chacha20-poly1305 (3.00×)"},
		"less than 5 %":       {100, 103, 16, "", "cannot tell"},
		"the same":            {100, 100, 16, "", "cannot tell"},
		"too few rounds":      {100, 300, 3, "", "cannot tell; about 9 rounds would"},
		"one round of smoke":  {100, 300, 1, "", "cannot tell; about 9 rounds would"},
		"as many as it takes": {100, 300, 9, aes, "aes-256-gcm (3.00×)"},
	} {
		winners := Winners(report(c.aes, c.chacha, c.rounds))
		if len(winners) != 1 {
			t.Fatalf("%s: %+v", name, winners)
		}
		w := winners[0]
		if got := w.Winner; c.winner == "" && got != nil || c.winner != "" && (got == nil || *got != c.winner) {
			t.Errorf("%s: %+v", name, w)
		}
		if w.String() != c.says || w.Rounds != c.rounds || w.Ratio == nil || w.Ratio.Low == nil != (c.rounds < 6) {
			t.Errorf("%s: %q of %+v", name, w, w)
		}
	}
	none := report(100, 300, 16)
	none[2].Implausible = "it is faster than a copy of the same bytes"
	if winners := Winners(none); len(winners) != 0 {
		t.Errorf("what cannot be true is compared: %+v", winners)
	}
}

// TestTheSameWorkUnderTwoNamesHasNoWinner: among 42 comparisons of the same work, on a machine with two speeds, none has
// a winner in at least 99 % of runs.
func TestTheSameWorkUnderTwoNamesHasNoWinner(t *testing.T) {
	const runs = 500
	won := 0
	for run := range runs {
		random := rand.New(rand.NewPCG(1, uint64(run)))
		jittered := func() []float64 {
			all := make([]float64, 16)
			for i := range all {
				all[i] = 100 * (0.97 + 0.06*random.Float64())
				if random.IntN(4) == 0 {
					all[i] *= 1.4
				}
			}
			return all
		}
		var r []judge.Primitive
		for bytes := range int64(42) {
			r = append(r, measured(aes, "ring", bytes+1, jittered()...), measured(chacha, "ring", bytes+1, jittered()...))
		}
		for _, w := range Winners(r) {
			if w.Winner != nil {
				won++
				break
			}
		}
	}
	if won > 12 { // 1 % is 5 runs; 13 or more occur by chance in 1 of 500 tests
		t.Errorf("%d of %d runs have a winner", won, runs)
	}
}

// answer is the evidence of a run of the AEADs, in which a copy of 64 KiB takes the given time in ns.
func answer(copied float64) Evidence {
	const size = 64 << 10
	in := func(section, operation string, one judge.Primitive) judge.Primitive {
		one.Section, one.Operation = section, operation
		return one
	}
	control := func(operation string, ns float64) judge.Primitive {
		one := in("control", operation, measured("control", "sha2", 1, ns))
		one.Bytes = nil
		return one
	}
	e := Evidence{StartUnixS: 1_700_000_000, DurationS: 2.5, Mode: "quick", Rustc: "rustc 1.95.0", KnownAnswers: 1234,
		Versions: map[string]string{"ring": "0.17.14"}, CPUFeatures: []string{"aes"}, CPU: 1,
		Host: result.Host{OS: "Debian", Kernel: "6.1", CPUModel: "AMD EPYC", CPUs: new(2), MemoryBytes: new(int64(1 << 32))}}
	e.Parameters = Parameters{Rounds: 1, Rules: []int64{1000, 100_000}}
	e.Measurements = []judge.Primitive{
		control("empty", 0.3), control("work", 1000), control("work twice", 2000), control("work again", 1001),
		in("memory", "copy", measured("memory", "memcpy", 1<<28, 2e7)),
		in("aead", "copy", measured("memory", "memcpy", size, copied)),
		measured(aes, "ring", size, 10_000), measured(chacha, "ring", size, 30_000),
		measured(aes, "portable", size, 800_000), measured(chacha, "portable", size, 800_100),
	}
	rules := in("domain", "match", measured("regex", "one by one", 1, 25_500))
	rules.Bytes, rules.Rules, rules.BuildS = nil, new(int64(1000)), 0.0159
	e.Measurements = append(e.Measurements, rules)
	e.Skipped = []Gap{{Subject: "regex", Implementation: "one by one", Rules: 100_000, Reason: "time and memory grow in proportion to the rules"}}
	return e
}

// page is the report of a run, and its exit code.
func page(t *testing.T, e Evidence) (string, int) {
	t.Helper()
	dir := t.TempDir()
	record, err := Write(dir, "primitives-1", e)
	if err != nil {
		t.Fatal(err)
	}
	set, err := reports.LoadRun(dir, &record)
	if err != nil {
		t.Fatal(err)
	}
	if text := problemsOf(t, filepath.Join(dir, "primitives-cpu.json")); text != "" {
		t.Error(text)
	}
	text, err := reports.Markdown(set, reports.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return string(text), set.ExitCode()
}

// problemsOf are the problems that the result's schema finds in a file, "" without any.
func problemsOf(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	doc, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, problem := range schema.Check(schema.Result, doc) {
		lines = append(lines, problem.String())
	}
	return strings.Join(lines, "\n")
}

func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}

func TestTheTablesSayThroughputAndOverhead(t *testing.T) {
	text, code := page(t, answer(1000))
	if code != exit.Pass {
		t.Errorf("%d", code)
	}
	has(t, text,
		"| Algorithm | Implementation | 64 KiB |",
		"| memory | memcpy | 61.0 GiB/s |",
		"| aes-256-gcm | ring | 6.10 GiB/s |",
		"| aes-256-gcm encrypt | ring | 10.0 µs (9.90 µs–10.1 µs) | 6.10 GiB/s | 10.0 |",
		"| ring | Bulk data | 64 KiB | 10.0 µs | 6.10 GiB/s | 30.0 µs | 2.03 GiB/s |",
		"| portable | Bulk data | 64 KiB | 800 µs | 78.1 MiB/s | 800 µs | 78.1 MiB/s |",
		"| ring | TCP control | 64 B | — | — | — | — |",
		"| aes-256-gcm encrypt | 64 KiB | 78.1 MiB/s | — | — | 6.10 GiB/s | 80.0 |",
		"| encrypt | ring | 64 KiB | 3.00 | cannot tell; about 10 rounds would |",
		"corrected for the 2 rows of the table, and more than 5 %",
		"| regex | one by one | 25.5 µs | — ¹ | 15.9 ms |",
		"¹ regex by one by one, 100,000 rules: not measured; time and memory grow",
		"| copy | 256 MiB | 12.5 GiB/s |",
		"took 2.00 times as long; 1.8 to 2.2 is accepted",
		"unknown: the kernel has no CONFIG_SCHED_INFO", "1,234 known answers were checked before", "CPU extensions: aes",
	)
}

func TestACopyThatCannotBeTrueIsNotShownAndNothingIsComparedWithIt(t *testing.T) {
	text, code := page(t, answer(10))
	if code != exit.Inconclusive {
		t.Errorf("%d", code)
	}
	has(t, text,
		"| memory | memcpy | not plausible |",
		"| aes-256-gcm encrypt | ring | 10.0 µs (9.90 µs–10.1 µs) | 6.10 GiB/s | — |",
		"| memory copy | memcpy | 64 KiB | 6554 GB/s: no core moves more than 1024 |",
		"plausible: 1 measurement cannot be true",
	)
}

func TestPortableCodeIsNoSurpriseWhereTheCPUHasNoAES(t *testing.T) {
	e := answer(1000)
	e.CPUFeatures = nil
	text, _ := page(t, e)
	has(t, text, "This CPU has no AES: the AES of these libraries is portable code in every column.", "CPU extensions: none that the libraries use")
}

func TestAWorkerWithoutControlsIsAnError(t *testing.T) {
	e := answer(1000)
	e.Measurements = e.Measurements[4:]
	if _, err := Write(t.TempDir(), "x", e); err == nil || !strings.Contains(err.Error(), "run make bin/primitives") {
		t.Error(err)
	}
}
