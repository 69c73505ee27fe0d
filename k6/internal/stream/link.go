// SPDX-License-Identifier: AGPL-3.0-only

package stream

import (
	"time"

	"windtunnel/k6/internal/influx"
)

// Link is the state of an instance's link, and its counts since it was made.
type Link struct {
	Settings struct {
		Up   LinkSide `json:"up"`
		Down LinkSide `json:"down"`
	} `json:"settings"`
	Ever struct {
		Up   LinkWay `json:"up"`
		Down LinkWay `json:"down"`
	} `json:"ever"`
}

// LinkSide has the settings of one direction; RateBitS is nil without a rate limit.
type LinkSide struct {
	RateBitS *int64 `json:"rate_bit_s"`
}

// LinkWay has the counts of one direction. Counts only grow, except QueuedBytesRecent: the longest queue in the last 1.2
// s.
type LinkWay struct {
	DeliveredBytes    int64 `json:"delivered_bytes"`
	QueueDropped      int64 `json:"queue_dropped"`
	Lost              int64 `json:"lost"`
	Dead              int64 `json:"dead"`
	QueuedBytesRecent int64 `json:"queued_bytes_recent"`
}

// LinkSpan is two looks at one link; Before is zero at the first look.
type LinkSpan struct{ Before, Now Link }

// linked adds the traffic of links in spans of the same time, one point for each direction. Several links at once, as
// for rows measured together, are added up. For queues and configured rates it takes the maximum.
func linked(b *influx.Batch, of Of, spans []LinkSpan, at time.Time) {
	if len(spans) == 0 {
		return
	}
	var up, down wayPoint
	for _, s := range spans {
		up.add(s.Before.Ever.Up, s.Now.Ever.Up, s.Now.Settings.Up)
		down.add(s.Before.Ever.Down, s.Now.Ever.Down, s.Now.Settings.Down)
	}
	b.Add("link", of.tags("direction", "up"), up.fields(len(spans)), at)
	b.Add("link", of.tags("direction", "down"), down.fields(len(spans)), at)
}

type wayPoint struct {
	done     LinkWay
	rateBitS int64
}

func (p *wayPoint) add(before, now LinkWay, side LinkSide) {
	p.done.DeliveredBytes += now.DeliveredBytes - before.DeliveredBytes
	p.done.QueueDropped += now.QueueDropped - before.QueueDropped
	p.done.Lost += now.Lost - before.Lost
	p.done.Dead += now.Dead - before.Dead
	p.done.QueuedBytesRecent = max(p.done.QueuedBytesRecent, now.QueuedBytesRecent)
	if side.RateBitS != nil {
		p.rateBitS = max(p.rateBitS, *side.RateBitS)
	}
}

func (p *wayPoint) fields(links int) influx.Fields {
	fields := influx.Fields{"links": int64(links), "delivered_bytes": p.done.DeliveredBytes, "queued_bytes": p.done.QueuedBytesRecent,
		"queue_dropped": p.done.QueueDropped, "lost": p.done.Lost, "dead": p.done.Dead}
	if p.rateBitS > 0 {
		fields["rate_bit_s"] = p.rateBitS
	}
	return fields
}
