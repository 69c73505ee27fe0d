// SPDX-License-Identifier: AGPL-3.0-only

package result

import "encoding/json"

// Kinds of a reason; k6/schemas/result.schema.json has all.
const (
	// Machine: others used the CPUs that were measured.
	Machine = "machine"
	// Generator: it, or the machine, may be what was measured.
	Generator = "generator"
)

// Cause is the role of a reason that may have brought about all others.
const Cause = "cause"

// Reason says why a verdict is not pass: one fault, or all of a kind, folded by k6/internal/judge. Count is how many they
// are; All has the sentence of each where there is more than one. BusyMachine: others used the CPUs, and can have caused it, so that
// another measurement may tell.
type Reason struct {
	Role        string   `json:"role"`
	Kind        string   `json:"kind"`
	Text        string   `json:"text"`
	Count       int      `json:"count"`
	All         []string `json:"all,omitempty"`
	BusyMachine bool     `json:"busy_machine,omitempty"`
}

// UnmarshalJSON reads a reason, or a string: what a reason was before it had a kind.
func (r *Reason) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*r = Reason{Count: 1}
		return json.Unmarshal(data, &r.Text)
	}
	type plain Reason
	return json.Unmarshal(data, (*plain)(r))
}

// Texts returns the sentences of reasons.
func Texts(reasons []Reason) []string {
	var texts []string
	for _, r := range reasons {
		texts = append(texts, r.Text)
	}
	return texts
}
