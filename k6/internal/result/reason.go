// SPDX-License-Identifier: AGPL-3.0-only

package result

import (
	"encoding/json"

	"windtunnel/k6/internal/seq"
)

// Kinds of a reason; k6/schemas/result.schema.json lists all.
const (
	// Machine means that other programs used the measured CPUs.
	Machine = "machine"
	// Generator means that the generator or the machine may have been the limit.
	Generator = "generator"
)

// Cause is the role of a reason that may have caused all others.
const Cause = "cause"

// Reason says why a verdict is not pass: one fault, or several of a kind that k6/internal/judge has combined. Count is
// their number; All has the sentence of each if there are several. BusyMachine says that other programs used the CPUs
// and may be the cause, so that another measurement may decide.
type Reason struct {
	Role        string   `json:"role"`
	Kind        string   `json:"kind"`
	Text        string   `json:"text"`
	Count       int      `json:"count"`
	All         []string `json:"all,omitempty"`
	BusyMachine bool     `json:"busy_machine,omitempty"`
}

// UnmarshalJSON reads a reason, or a string: the form of a reason in older results.
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
	return seq.Map(reasons, func(r Reason) string { return r.Text })
}
