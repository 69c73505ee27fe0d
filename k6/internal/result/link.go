// SPDX-License-Identifier: AGPL-3.0-only

package result

import "fmt"

// Link is what was between the two ends of each pair: docs/explanation/link.md.
type Link struct {
	// Text is as it was asked for; Title is of its file, "" where it has none.
	Text  string `json:"text"`
	Title string `json:"title"`
	Seed  uint64 `json:"seed"`
	MTU   int    `json:"mtu"`
	// Settings are of each direction at its start.
	Settings LinkSettings `json:"settings"`
	Near     LinkEnd      `json:"near"`
	Far      LinkEnd      `json:"far"`
}

// LinkSettings are from near to far, and back.
type LinkSettings struct {
	Up   LinkSide `json:"up"`
	Down LinkSide `json:"down"`
}

// LinkSide is one direction. Loss, BurstLoss, Reorder, Duplicate and Corrupt are shares of 1, Burst a number of packets. RateBitS
// is nil where nothing waits.
type LinkSide struct {
	DelayNS        int64     `json:"delay_ns"`
	JitterNS       int64     `json:"jitter_ns"`
	JitterReorders bool      `json:"jitter_reorders"`
	RateBitS       *int64    `json:"rate_bit_s"`
	Queue          LinkQueue `json:"queue"`
	Loss           float64   `json:"loss"`
	Burst          float64   `json:"burst"`
	BurstLoss      float64   `json:"burst_loss"`
	Reorder        float64   `json:"reorder"`
	ReorderByNS    int64     `json:"reorder_by_ns"`
	Duplicate      float64   `json:"duplicate"`
	Corrupt        float64   `json:"corrupt"`
	Dead           bool      `json:"dead"`
}

// LinkQueue is how much may wait, in the one of these that is given.
type LinkQueue struct {
	Bytes   *int64   `json:"bytes,omitempty"`
	Packets *int64   `json:"packets,omitempty"`
	BDP     *float64 `json:"bdp,omitempty"`
}

// LinkEnd is a network namespace. Settings are of its kernel, as it began.
type LinkEnd struct {
	Namespace string          `json:"namespace"`
	Address   string          `json:"address"`
	Settings  NetworkSettings `json:"settings"`
}

// Words are what it is called.
func (l *Link) Words() string {
	if l == nil {
		return ""
	}
	words := l.Text
	if l.Title != "" {
		words += " (" + l.Title + ")"
	}
	return fmt.Sprintf("%s, seed %d", words, l.Seed)
}
