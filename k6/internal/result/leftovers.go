// SPDX-License-Identifier: AGPL-3.0-only

package result

import (
	"fmt"
)

// Leftovers are objects that a run made on its target and could not remove.
type Leftovers struct {
	// Without known, the count is the largest possible number; 0 means unknown.
	Count int64 `json:"count" jsonschema:"minimum=0"`
	// Whether the target could be queried.
	Known bool `json:"known"`
	// The name of the leftovers, in the plural, and how to find them.
	What string `json:"what"`
	// The command that removes them; absent if they end with their testbed.
	RemoveWith string `json:"remove_with,omitempty"`
}

// Text is one sentence.
func (l Leftovers) Text() string {
	text := fmt.Sprintf("%d could not be removed from the target: %s", l.Count, l.What)
	switch {
	case !l.Known && l.Count > 0:
		text = fmt.Sprintf("up to %d may remain on the target, which could not be queried: %s", l.Count, l.What)
	case !l.Known:
		text = "the leftovers on the target are unknown, because the target could not be queried: " + l.What
	}
	if l.RemoveWith != "" {
		text += "; this removes them: " + l.RemoveWith
	}
	return text
}

// Connections counts the connections of a load over HTTP.
type Connections struct {
	Opened int64 `json:"opened" jsonschema:"minimum=0"`
	// Requests on an idle connection that the target had closed. Each was sent once more.
	IdleResets int64 `json:"idle_resets" jsonschema:"minimum=0"`
}

// Text is one sentence.
func (c Connections) Text() string {
	text := fmt.Sprintf("connections: %d were opened for the load", c.Opened)
	if c.IdleResets > 0 {
		text += fmt.Sprintf("; %d requests met one that the target had closed while it was idle, and were sent once more: the target's keep-alive time-out is shorter than a client's pause between two requests", c.IdleResets)
	}
	return text
}
