// SPDX-License-Identifier: AGPL-3.0-only

package primitives

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// measured has the medians of rounds, in nanoseconds.
func measured(subject, implementation string, bytes int64, medians ...float64) Measurement {
	m := Measurement{Section: "aead", Subject: subject, Operation: "encrypt", Implementation: implementation, Bytes: bytes}
	for _, median := range medians {
		m.Rounds = append(m.Rounds, struct {
			Median float64 `json:"median"`
		}{median})
	}
	return m
}

// about are so many rounds about a middle, on a machine that slows down by a half meanwhile.
func about(middle float64, seed, rounds int) []float64 {
	all := make([]float64, rounds)
	for i := range all {
		all[i] = middle * (1 + 0.005*float64((i*seed)%7-3)) * (1 + 0.5*float64(i)/float64(rounds))
	}
	return all
}

func report(aesTime, chachaTime float64, rounds int) Report {
	return Report{Measurements: []Measurement{
		measured("memory", "memcpy", 1024, about(100, 3, rounds)...),
		measured(aes, "ring", 1024, about(aesTime, 3, rounds)...),
		measured(chacha, "ring", 1024, about(chachaTime, 5, rounds)...),
		measured(aes, "portable", 1024, about(200, 3, rounds)...), // without the other
	}}
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
	none.Measurements[2].Implausible = "it is faster than a copy of the same bytes"
	if winners := Winners(none); len(winners) != 0 {
		t.Errorf("what cannot be true is compared: %+v", winners)
	}
}

// TestTheSameWorkUnderTwoNamesHasNoWinner: of 42 comparisons of the same work, on a machine with two speeds, none has a
// winner in 99 % of runs at least.
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
		var r Report
		for bytes := range int64(42) {
			r.Measurements = append(r.Measurements, measured(aes, "ring", bytes+1, jittered()...), measured(chacha, "ring", bytes+1, jittered()...))
		}
		for _, w := range Winners(r) {
			if w.Winner != nil {
				won++
				break
			}
		}
	}
	if won > 12 { // 5 are to be expected of 1 %; 13 and more come of it in 1 of 500
		t.Errorf("%d of %d runs have a winner", won, runs)
	}
}

func TestTable(t *testing.T) {
	text := Markdown(Winners(report(100, 300, 16)))
	for _, part := range []string{
		title, "| encrypt | ring | 1 KiB | 3.00 (2.99–3.02) | aes-256-gcm (3.00×) |",
		"interval at 96 %", "all 1 rows of the table counted, and more than 5 %: it takes 9 rounds; these are 16.",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if Markdown(nil) != "" {
		t.Error("a table of nothing")
	}
	for bytes, want := range map[int64]string{64: "64 B", 1460: "1460 B", 16384: "16 KiB", 1 << 20: "1 MiB"} {
		if got := size(bytes); got != want {
			t.Errorf("%d: %s", bytes, got)
		}
	}
}
