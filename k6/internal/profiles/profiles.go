// SPDX-License-Identifier: AGPL-3.0-only

// Package profiles has the load and duration of a run, by profile. k6/lists/profiles.json is the only list;
// lib/profiles.js reads it too.
package profiles

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/seq"
	"windtunnel/k6/lists"
)

// Profile is an entry of the list.
type Profile struct {
	Name string `json:"-"`
	// Sized says that a scenario itself sets its amount of load.
	Sized bool `json:"sized"`
	// Fixed says that the load is a number of requests, and time bounds nothing.
	Fixed bool `json:"fixed"`
	// CompareMin is the default number of minutes in which a comparison adds pairs until it knows.
	CompareMin int `json:"compare_min"`
	// QuietS is the length of the quiet period after a load, in seconds. The system's deferred work in it still counts.
	QuietS float64 `json:"quiet_s"`
	// LimitSteps is the number of equal steps in which a run looks for the limit; 0 if it does not.
	LimitSteps int `json:"limit_steps"`
	// LeavesOutFurther says that a run without ONLY leaves out the further scenarios of each system.
	LeavesOutFurther bool `json:"leaves_out_further"`
	// Steps are the steps of a load that time bounds.
	Steps []Step `json:"steps"`
	// Rounds are the rounds of a load that a probe makes; nil if the profile has no rounds.
	Rounds *Rounds `json:"rounds"`
}

// Step is a step of a load: Target times the base load, reached after Seconds.
type Step struct {
	Target  float64 `json:"target"`
	Seconds float64 `json:"seconds"`
}

// Rounds has a multiple of the base load for each round, and the total seconds.
type Rounds struct {
	Factors []float64 `json:"factors"`
	Seconds float64   `json:"seconds"`
}

// All has the profiles, in the order of the list.
var All = func() []Profile {
	byName := lists.Read[map[string]Profile](lists.Profiles)
	return seq.Map(lists.Names(lists.Profiles), func(name string) Profile {
		p := byName[name]
		p.Name = name
		return p
	})
}()

// Sized are the names of the profiles with a size set by the scenario.
func Sized() []string {
	sized := seq.Filter(All, func(p Profile) bool { return p.Sized })
	return seq.Map(sized, func(p Profile) string { return p.Name })
}

func find(name string) (p Profile, known bool) {
	i := slices.IndexFunc(All, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return p, false
	}
	return All[i], true
}

// LooksForLimit reports whether a profile runs until a threshold fails.
func LooksForLimit(name string) bool {
	p, _ := find(name)
	return p.LimitSteps > 0
}

// LeavesOutFurther reports whether a run with a profile, and without ONLY, leaves out the further scenarios of each system.
func LeavesOutFurther(name string) bool {
	p, _ := find(name)
	return p.LeavesOutFurther
}

// MostMinutes is the default number of minutes in which a comparison with a profile adds pairs until it knows; for an
// unknown profile, the largest number.
func MostMinutes(name string) int {
	if p, known := find(name); known {
		return p.CompareMin
	}
	return All[len(All)-1].CompareMin
}

// MinutesText lists these minutes for all profiles, for --help.
func MinutesText() string {
	longest := All[len(All)-1].CompareMin
	shorter := seq.Filter(All, func(p Profile) bool { return p.CompareMin != longest })
	parts := seq.Map(shorter, func(p Profile) string { return fmt.Sprintf("%d of %s", p.CompareMin, p.Name) })
	return strings.Join(append(parts, fmt.Sprintf("else %d", longest)), ", ")
}
