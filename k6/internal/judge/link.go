// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"
	"math"
	"strings"

	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

const (
	checkLink = "link"
	linkDied  = "it died: "
	linkSlow  = "was too slow"
	// lossUnknown is a fault of the sidecar's count.
	lossUnknown = "the number of packets that the link itself lost is unknown"
	// The largest acceptable mean lateness of a link's packets, in ms, or as a share of the link's delay, whichever is
	// more.
	lateMostMS    = 0.2
	lateMostOfWay = 0.01
)

// Link is the link between the ends of the pairs, with its measured properties.
type Link struct {
	About       result.Link     `json:"about"`
	Calibration LinkCalibration `json:"calibration"`
	// Uses are the links of the run, by the row or the pair that used them.
	Uses []LinkUse `json:"uses"`
}

// LinkCalibration is the sidecar's measurement of a link with the same settings, before the load (sidecar/README.md). A
// section shows the figures.
type LinkCalibration struct {
	OK bool `json:"ok"`
	// Wrong has a line for each figure that differs from the settings.
	Wrong   []string `json:"wrong"`
	Carries struct {
		MbitS    float64 `json:"mbit_s"`
		PacketsS float64 `json:"packets_s"`
	} `json:"carries"`
}

// LinkUse is the traffic of consecutive links with one user.
type LinkUse struct {
	Name  string `json:"name"`
	Links int    `json:"links"`
	// RealTime says that their threads had priority over all others.
	RealTime bool `json:"real_time"`
	// Failed is why a link stopped carrying packets; nil if all links worked to the end.
	Failed *string    `json:"failed"`
	Up     LinkCounts `json:"up"`
	Down   LinkCounts `json:"down"`
}

// LinkCounts counts the packets of one direction.
type LinkCounts struct {
	Sent       int64 `json:"sent"`
	Delivered  int64 `json:"delivered"`
	OwnOverrun int64 `json:"own_overrun"`
	OwnRefused int64 `json:"own_refused"`
	// OwnUnread is nil if the sidecar does not know.
	OwnUnread *int64 `json:"own_unread"`
	LateSumNS int64  `json:"late_sum_ns"`
}

// checks checks whether the link had the requested properties, before and during the load. A wrong link is no fault of
// the system.
func (l *Link) checks() []*result.Validity {
	if l == nil {
		return nil
	}
	return append([]*result.Validity{l.calibrated()}, seq.Map(l.Uses, l.carried)...)
}

func (l *Link) calibrated() *result.Validity {
	name := checkLink + " " + l.About.Text
	if l.Calibration.OK {
		return check(name, meter, true, fmt.Sprintf("the link behaves as configured; on this machine it can carry %.0f Mbit/s and %.0f packets a second",
			l.Calibration.Carries.MbitS, l.Calibration.Carries.PacketsS))
	}
	return check(name, meter, false, strings.Join(l.Calibration.Wrong, "; "))
}

// linkOf is the name of the check for a row's links.
func linkOf(row string) string { return checkLink + ": " + row }

func (l *Link) carried(use LinkUse) *result.Validity {
	var wrong []string
	if use.Failed != nil {
		wrong = append(wrong, linkDied+*use.Failed)
	}
	var late []string
	for _, side := range []struct {
		name   string
		counts LinkCounts
		wayNS  int64
	}{{"up", use.Up, l.About.Settings.Up.DelayNS}, {"down", use.Down, l.About.Settings.Down.DelayNS}} {
		own := side.counts.OwnOverrun + side.counts.OwnRefused
		if unread := side.counts.OwnUnread; unread != nil {
			own += *unread
		} else if use.Failed == nil {
			wrong = append(wrong, side.name+": "+lossUnknown)
		}
		if own > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: the link itself lost %d of %d packets, because it %s", side.name, own, side.counts.Sent, linkSlow))
		}
		if side.counts.Delivered == 0 {
			continue
		}
		mean := float64(side.counts.LateSumNS) / float64(side.counts.Delivered) / 1e6
		most := math.Max(lateMostMS, lateMostOfWay*float64(side.wayNS)/1e6)
		if mean > most {
			wrong = append(wrong, fmt.Sprintf("%s: packets were late by %.3f ms on average, at most %.3f ms is allowed: the link %s", side.name, mean, most, linkSlow))
		}
		late = append(late, fmt.Sprintf("%s %.3f", side.name, mean))
	}
	if len(wrong) > 0 {
		return check(linkOf(use.Name), meter, false, strings.Join(wrong, "; "))
	}
	detail := "the link itself lost no packet"
	if len(late) > 0 {
		detail += fmt.Sprintf("; mean lateness of packets, ms: %s", strings.Join(late, ", "))
	}
	return check(linkOf(use.Name), meter, true, detail)
}

// spoilt reports whether a wrong link makes a row's figures useless.
func (l *Link) spoilt(row string) bool {
	if l == nil {
		return false
	}
	for _, use := range l.Uses {
		if use.Name == row {
			return !*l.carried(use).OK
		}
	}
	return false
}
