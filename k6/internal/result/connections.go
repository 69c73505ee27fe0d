// SPDX-License-Identifier: AGPL-3.0-only

package result

import "fmt"

// Connections counts the connections of a load over HTTP.
type Connections struct {
	Opened int64 `json:"opened"`
	// IdleResets counts requests on an idle connection that the target had closed. Each was sent once more.
	IdleResets int64 `json:"idle_resets"`
}

// Text is one sentence.
func (c Connections) Text() string {
	text := fmt.Sprintf("connections: %d were opened for the load", c.Opened)
	if c.IdleResets > 0 {
		text += fmt.Sprintf("; %d requests met one that the target had closed while it was idle, and were sent once more: the target's keep-alive time-out is shorter than a client's pause between two requests", c.IdleResets)
	}
	return text
}
