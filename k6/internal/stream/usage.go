// SPDX-License-Identifier: AGPL-3.0-only

package stream

import (
	"time"

	"windtunnel/k6/internal/influx"
)

// Usage is what a window of the sidecar has measured so far.
type Usage struct {
	DurationS float64   `json:"duration_s"`
	Host      Host      `json:"host"`
	Processes []Process `json:"processes"`
}

// Host is the whole machine; BusyS is of all its CPUs together.
type Host struct {
	CPUs  int64   `json:"cpus"`
	BusyS float64 `json:"busy_s"`
}

// Process is one process with its descendants; RSSBytes is of now, Exit nil while it lives.
type Process struct {
	Name     string  `json:"name"`
	Role     string  `json:"role"`
	CPUS     float64 `json:"cpu_s"`
	RSSBytes int64   `json:"rss_bytes"`
	Exit     *string `json:"exit"`
}

// shortest is the least time that a share of CPU is told of: less says little.
const shortest = 0.2

// since adds what was used between two looks at a window.
func (u Usage) since(before Usage, b *influx.Batch, of Of, at time.Time) {
	seconds := u.DurationS - before.DurationS
	if seconds < shortest {
		return
	}
	earlier := map[string]float64{}
	for _, p := range before.Processes {
		earlier[p.Name] = p.CPUS
	}
	for _, p := range u.Processes {
		if p.Exit != nil {
			continue
		}
		b.Add("processes", of.tags("process", p.Name, "role", p.Role), influx.Fields{
			"cpu_percent": (p.CPUS - earlier[p.Name]) / seconds * 100, "rss_bytes": p.RSSBytes}, at)
	}
	if u.Host.CPUs > 0 {
		b.Add("host", of.tags(), influx.Fields{"cpus": u.Host.CPUs,
			"busy_percent": min(100, (u.Host.BusyS-before.Host.BusyS)/seconds/float64(u.Host.CPUs)*100)}, at)
	}
}
