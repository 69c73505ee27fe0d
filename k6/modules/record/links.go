// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/grafana/sobek"

	"windtunnel/k6/internal/sidecar"
)

// ownLink is the name of the run's own instance among the users of links.
const ownLink = "the run's pair"

// counts has the counts of one direction of a link (sidecar/README.md); nil: unknown.
type counts map[string]*int64

// linkUse is the traffic of consecutive links with one user.
type linkUse struct {
	Name     string  `json:"name"`
	Links    int     `json:"links"`
	RealTime bool    `json:"real_time"`
	Failed   *string `json:"failed"`
	Up       counts  `json:"up"`
	Down     counts  `json:"down"`
}

// linkOf reads the counts of an instance's link, and whether the link still works.
func (i *instance) linkOf(name, id string) linkUse {
	use := linkUse{Name: name, Links: 1, Failed: new("the process that measured it no longer answers"), Up: counts{}, Down: counts{}}
	ctx, cancel := context.WithTimeout(i.vu.Context(), sidecar.Quickly)
	defer cancel()
	answer, err := i.client().Do(ctx, http.MethodGet, "/instances/"+id+"/link", nil)
	if err != nil || answer.Err() != nil {
		return use
	}
	read := linkUse{Name: name, Links: 1}
	if json.Unmarshal(answer.Body, &read) != nil {
		return use
	}
	return read
}

// keepLink adds the traffic of an instance's link to its user's. Scripts call it before the instance is stopped.
func (i *instance) keepLink(name, id string) { i.shared.keepLink(i.linkOf(name, id)) }

func (s *shared) keepLink(use linkUse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, there := s.links[use.Name]; there {
		use.Links += before.Links
		use.RealTime = use.RealTime && before.RealTime
		if before.Failed != nil {
			use.Failed = before.Failed
		}
		use.Up, use.Down = before.Up.and(use.Up), before.Down.and(use.Down)
	}
	s.links[use.Name] = use
}

// and adds the counts of a later link. The maximum of a count whose name has _most stays. A count that is unknown for one
// link is unknown for both.
func (c counts) and(later counts) counts {
	all := counts{}
	for name, count := range later {
		before, there := c[name]
		switch {
		case !there, count == nil:
		case before == nil:
			count = nil
		case strings.Contains(name, "_most"):
			count = new(max(*before, *count))
		default:
			count = new(*before + *count)
		}
		all[name] = count
	}
	return all
}

// linkUses returns the kept traffic of all links. Without kept traffic, the run's own instance has all, unless id is "".
func (i *instance) linkUses(id string) sobek.Value {
	i.shared.mu.Lock()
	uses := slices.SortedFunc(maps.Values(i.shared.links), func(a, b linkUse) int { return strings.Compare(a.Name, b.Name) })
	i.shared.mu.Unlock()
	if len(uses) == 0 && id != "" {
		uses = []linkUse{i.linkOf(ownLink, id)}
	}
	return i.Into(append([]linkUse{}, uses...))
}
