// SPDX-License-Identifier: AGPL-3.0-only

package primitives

import (
	"fmt"
	"math"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/result"
)

const (
	aes    = "aes-256-gcm"
	chacha = "chacha20-poly1305"
	// bound is the smallest share by which a winner is faster: two measurements of the same work may differ by this
	// much.
	bound = 0.05
)

// Winner is the faster cipher at a size, nil if the rounds do not decide; Factor is how many times faster it is.
// RoundsToTell estimates the number of rounds that would decide, nil if they have decided, or if no number would.
type Winner struct {
	Operation      string   `json:"operation"`
	Implementation string   `json:"implementation"`
	Bytes          int64    `json:"bytes"`
	Winner         *string  `json:"winner"`
	Factor         *float64 `json:"factor,omitempty"`
	Rounds         int      `json:"rounds"`
	Ratio          *Ratio   `json:"ratio"`
	RoundsToTell   *int     `json:"rounds_to_tell"`
}

// Ratio is the time of ChaCha20-Poly1305 divided by the time of AES-256-GCM; the interval is nil with too few rounds.
type Ratio struct {
	Estimate float64  `json:"estimate"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
}

// Winners compares the ciphers at each size. All sizes are judged together: if the ciphers are equally fast, there is no
// winner in 99 % of runs. It skips figures that cannot be true.
func Winners(all []judge.Primitive) []Winner {
	winners := []Winner{}
	var shifts []difference.Shift
	for _, one := range all {
		twin := keyOf(one)
		twin.subject = chacha
		other := Evidence{Primitives: judge.Primitives{Measurements: all}}.find(twin)
		if one.Section != "aead" || one.Subject != aes || one.Bytes == nil || other == nil || one.Implausible != "" || other.Implausible != "" {
			continue
		}
		// A is ChaCha, so a shift above 0 means that AES takes longer.
		var samples []float64
		for i := range min(len(one.Rounds), len(other.Rounds)) {
			samples = append(samples, difference.LogRatio(other.Rounds[i].Median, one.Rounds[i].Median, false))
		}
		shifts = append(shifts, difference.Paired(samples))
		winners = append(winners, Winner{Operation: one.Operation, Implementation: one.Implementation, Bytes: *one.Bytes, Rounds: len(samples)})
	}
	for i, apart := range difference.TellApart(shifts, math.Log1p(bound)) {
		winners[i].take(apart)
	}
	return winners
}

func (w *Winner) take(apart difference.Apart) {
	switch apart.Better {
	case difference.A:
		w.Winner = new(chacha)
	case difference.B:
		w.Winner = new(aes)
	}
	if w.Winner != nil {
		w.Factor = new(math.Exp(math.Abs(apart.Estimate)))
	}
	if apart.ToTell > 0 && apart.ToTell <= difference.MostPairs {
		w.RoundsToTell = &apart.ToTell
	}
	if math.IsNaN(apart.Estimate) {
		return
	}
	w.Ratio = &Ratio{Estimate: math.Exp(-apart.Estimate)}
	if apart.Lo != nil {
		w.Ratio.Low, w.Ratio.High = new(math.Exp(-*apart.Hi)), new(math.Exp(-*apart.Lo))
	}
}

// String returns `aes-256-gcm (3.01×)`, or text that the rounds cannot decide.
func (w Winner) String() string {
	switch {
	case w.Winner != nil:
		return fmt.Sprintf("%s (%.2f×)", *w.Winner, *w.Factor)
	case w.RoundsToTell != nil:
		return fmt.Sprintf("cannot tell; about %d rounds would", *w.RoundsToTell)
	}
	return "cannot tell"
}

// winnersSection is the table of the faster cipher at each size.
func winnersSection(winners []Winner) result.Section {
	s := result.Section{Name: "ciphers", Title: "AES-256-GCM against ChaCha20-Poly1305", Columns: []result.Column{
		text("which", "Operation"), text("implementation", "Implementation"), {Name: "bytes", Title: "Size", Unit: "B"},
		{Name: "ratio", Title: "Time of ChaCha20-Poly1305 by AES-256-GCM", Unit: "x", Digits: new(2)}, text("faster", "Faster"),
	}}
	for _, w := range winners {
		ratio := result.Cell{}
		if w.Ratio != nil {
			ratio = result.Cell{Value: &w.Ratio.Estimate, Range: &result.Range{Low: w.Ratio.Low, High: w.Ratio.High}}
		}
		s.Rows = append(s.Rows, []result.Cell{word(w.Operation), word(w.Implementation), number(float64(w.Bytes)), ratio, word(w.String())})
	}
	if len(winners) > 0 {
		s.Notes = []string{fmt.Sprintf("From the rounds, which each measure both ciphers, with the exact signed-rank interval at %.0f %%. A faster cipher is named if the difference is "+
			"significant, corrected for the %d rows of the table, and more than %.0f %%. That takes at least %d rounds; this run has %s.", 100*difference.Look{}.Confidence(),
			len(winners), 100*bound, difference.FewestToTellApart(len(winners)), format.Count(int64(winners[0].Rounds)))}
	}
	return s
}
