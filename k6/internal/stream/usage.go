// SPDX-License-Identifier: AGPL-3.0-only

package stream

import (
	"time"

	"windtunnel/k6/internal/influx"
)

// Usage is the measurement of a sidecar's window until now, or until it was closed.
type Usage struct {
	Closed    bool      `json:"closed"`
	DurationS float64   `json:"duration_s"`
	Host      Host      `json:"host"`
	Processes []Process `json:"processes"`
}

// Host is the whole machine; BusyS is the busy time of all its CPUs together in seconds. If unknown, CPUs is 0 and BusyS
// is nil.
type Host struct {
	CPUs  int64    `json:"cpus"`
	BusyS *float64 `json:"busy_s"`
}

// Process is one process with its descendants; RSSBytes is the current value, Exit is nil while it lives.
type Process struct {
	Name     string  `json:"name"`
	Role     string  `json:"role"`
	CPUS     float64 `json:"cpu_s"`
	RSSBytes int64   `json:"rss_bytes"`
	Exit     *string `json:"exit"`
}

// Look is the usage of windows and links since the previous look.
type Look struct {
	Spans []Span
	Links []LinkSpan
}

// Span is two looks at one window.
type Span struct{ Before, Now Usage }

// shortest is the shortest span in seconds for which a CPU share is reported: a shorter one is too noisy.
const shortest = 0.2

// TooShort reports whether a span is too short for a CPU share.
func (s Span) TooShort() bool { return s.seconds() < shortest }

// use is the usage of one process, or of several with one name.
type use struct {
	role     string
	percent  float64
	rssBytes int64
}

// used adds the usage in spans of the same time. Processes of one name are added up: a sweep starts a testbed beside the
// given one.
func used(b *influx.Batch, of Of, spans []Span, at time.Time) {
	all := map[string]use{}
	for _, s := range spans {
		s.addTo(all)
	}
	for name, u := range all {
		fields := influx.Fields{"cpu_percent": u.percent}
		if u.rssBytes > 0 {
			fields["rss_bytes"] = u.rssBytes
		}
		b.Add("processes", of.tags("process", name, "role", u.role), fields, at)
	}
	if len(spans) > 0 {
		spans[0].host(b, of, at)
	}
}

func (s Span) seconds() float64 { return s.Now.DurationS - s.Before.DurationS }

func (s Span) addTo(all map[string]use) {
	if s.TooShort() {
		return
	}
	earlier := map[string]float64{}
	for _, p := range s.Before.Processes {
		earlier[p.Name] = p.CPUS
	}
	for _, p := range s.Now.Processes {
		cpuS := p.CPUS - earlier[p.Name]
		if p.Exit != nil {
			if cpuS <= 0 {
				continue
			}
			p.RSSBytes = 0
		}
		sum := all[p.Name]
		all[p.Name] = use{p.Role, sum.percent + cpuS/s.seconds()*100, sum.rssBytes + p.RSSBytes}
	}
}

func (s Span) host(b *influx.Batch, of Of, at time.Time) {
	cpus, now, before := s.Now.Host.CPUs, s.Now.Host.BusyS, s.Before.Host.BusyS
	if cpus == 0 || now == nil || s.TooShort() {
		return
	}
	sofar := 0.0
	switch {
	case before != nil:
		sofar = *before
	case s.Before.DurationS > 0:
		return
	}
	busy := (*now - sofar) / s.seconds() / float64(cpus) * 100
	b.Add("host", of.tags(), influx.Fields{"cpus": cpus, "busy_percent": min(100, busy)}, at)
}

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
