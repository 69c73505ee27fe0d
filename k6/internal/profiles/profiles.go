// SPDX-License-Identifier: AGPL-3.0-only

// Package profiles knows how hard and how long a run may be, by name: k6/lists/profiles.json is the one list, which
// lib/profiles.js reads as well.
package profiles

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/lists"
)

// Profile is one of them.
type Profile struct {
	Name string `json:"-"`
	// Sized: a scenario says itself how much it is.
	Sized bool `json:"sized"`
	// Fixed: a number of requests, and nothing that time bounds.
	Fixed bool `json:"fixed"`
	// CompareMin is for how many minutes a comparison adds pairs until it knows, unless it is told.
	CompareMin int `json:"compare_min"`
	// QuietS is the length of the quiet period after a load, in which what the system does later is still counted.
	QuietS float64 `json:"quiet_s"`
	// LimitSteps is in how many steps, all of one length, a run looks for the limit; 0: it does not.
	LimitSteps int `json:"limit_steps"`
	// Steps are those of a load that time bounds.
	Steps []Step `json:"steps"`
	// Rounds are those of a load that a probe makes; nil where it has none.
	Rounds *Rounds `json:"rounds"`
}

// Step of a load: Target times the base load, reached after Seconds.
type Step struct {
	Target  float64 `json:"target"`
	Seconds float64 `json:"seconds"`
}

// Rounds have multiples of the base load, a round each, and the seconds of all of them.
type Rounds struct {
	Factors []float64 `json:"factors"`
	Seconds float64   `json:"seconds"`
}

// All are the profiles, in the order of the list.
var All = read(lists.Profiles)

func read(data []byte) (all []Profile) {
	list := json.NewDecoder(bytes.NewReader(data))
	list.DisallowUnknownFields()
	next := func() json.Token {
		token, err := list.Token()
		if err != nil {
			panic(err) // embedded at build time
		}
		return token
	}
	for next(); list.More(); {
		p := Profile{Name: next().(string)}
		if err := list.Decode(&p); err != nil {
			panic(fmt.Sprintf("profiles.json: %s: %v", p.Name, err))
		}
		all = append(all, p)
	}
	return all
}

func names(is func(Profile) bool) (names []string) {
	for _, p := range All {
		if is(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Names are those of all profiles.
func Names() []string { return names(func(Profile) bool { return true }) }

// Sized are the names of those of which a scenario says itself how much they are.
func Sized() []string { return names(func(p Profile) bool { return p.Sized }) }

func find(name string) (p Profile, known bool) {
	i := slices.IndexFunc(All, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return p, false
	}
	return All[i], true
}

// LooksForLimit reports whether a profile is meant to run until a threshold fails.
func LooksForLimit(name string) bool {
	p, _ := find(name)
	return p.LimitSteps > 0
}

// MostMinutes is for how long a profile's comparison adds pairs until it knows, unless it is told; of a profile that nobody
// knows the longest.
func MostMinutes(name string) int {
	if p, known := find(name); known {
		return p.CompareMin
	}
	return All[len(All)-1].CompareMin
}

// MinutesText says it of all profiles, for a --help.
func MinutesText() string {
	longest := All[len(All)-1].CompareMin
	var parts []string
	for _, p := range All {
		if p.CompareMin != longest {
			parts = append(parts, fmt.Sprintf("%d of %s", p.CompareMin, p.Name))
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("else %d", longest)), ", ")
}
