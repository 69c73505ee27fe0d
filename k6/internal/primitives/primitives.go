// SPDX-License-Identifier: AGPL-3.0-only

// Package primitives tells which of two ciphers is the faster one, from the rounds of a run of `sidecar bench primitives`.
package primitives

import (
	"encoding/json"
	"fmt"
	"math"
	"os"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/run"
)

const (
	aes    = "aes-256-gcm"
	chacha = "chacha20-poly1305"
	// bound is the share by which a winner is faster at least: the same work, measured again, may differ by so much.
	bound = 0.05
)

// Report is what is read of primitives.json.
type Report struct {
	Measurements []Measurement `json:"measurements"`
}

// Measurement is of one operation of one library. Implausible says why it cannot be true.
type Measurement struct {
	Section        string `json:"section"`
	Subject        string `json:"subject"`
	Operation      string `json:"operation"`
	Implementation string `json:"implementation"`
	Bytes          int64  `json:"bytes"`
	Implausible    string `json:"implausible"`
	// Rounds took turns with those of other measurements; Median is of one operation, in nanoseconds.
	Rounds []struct {
		Median float64 `json:"median"`
	} `json:"rounds"`
}

// Winner is which of the two ciphers is the faster one at a size, nil where the rounds cannot tell; Factor is how many times as
// fast it is. RoundsToTell is about how many rounds would tell, nil where they do and where no number would.
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

// Ratio is the time of ChaCha20-Poly1305 by that of AES-256-GCM; the interval is nil where the rounds are too few for it.
type Ratio struct {
	Estimate float64  `json:"estimate"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
}

// Winners compares the ciphers at each size, all judged together, so that of two that are equally fast none wins in 99 % of
// runs. What cannot be true is not compared.
func Winners(report Report) []Winner {
	winners := []Winner{}
	var shifts []difference.Shift
	for _, one := range report.Measurements {
		other, ok := report.beside(one)
		if one.Section != "aead" || one.Subject != aes || !ok || one.Implausible != "" || other.Implausible != "" {
			continue
		}
		// A is ChaCha, so that a shift above 0 is an AES that takes longer.
		var samples []float64
		for i := range min(len(one.Rounds), len(other.Rounds)) {
			samples = append(samples, difference.LogRatio(other.Rounds[i].Median, one.Rounds[i].Median, false))
		}
		shifts = append(shifts, difference.Paired(samples))
		winners = append(winners, Winner{Operation: one.Operation, Implementation: one.Implementation, Bytes: one.Bytes, Rounds: len(samples)})
	}
	for i, apart := range difference.TellApart(shifts, math.Log1p(bound)) {
		winners[i].take(apart)
	}
	return winners
}

// beside is ChaCha's measurement that belongs to one of AES.
func (r Report) beside(one Measurement) (Measurement, bool) {
	for _, other := range r.Measurements {
		if other.Section == one.Section && other.Subject == chacha && other.Operation == one.Operation &&
			other.Implementation == one.Implementation && other.Bytes == one.Bytes {
			return other, true
		}
	}
	return Measurement{}, false
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

// Judge adds the winners to a primitives.json and returns them.
func Judge(path string) ([]Winner, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var report Report
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// All else stays as the sidecar wrote it.
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	winners := Winners(report)
	if all["winners"], err = json.Marshal(winners); err != nil {
		return nil, err
	}
	out, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, err
	}
	return winners, run.WriteFile(path, append(out, '\n'))
}
