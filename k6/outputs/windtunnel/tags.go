// SPDX-License-Identifier: AGPL-3.0-only

package windtunnel

import (
	"encoding/json"
	"maps"

	"go.k6.io/k6/lib"

	"windtunnel/k6/internal/coordinator"
)

// tagsOf are those of a whole run: what the script declares (`ext.windtunnel.tags`), since a tag of the command line takes the
// place of all tags of a script, then those that k6 has, and of one of several runners its number.
func tagsOf(options lib.Options) map[string]string {
	var declared struct {
		Tags map[string]string `json:"tags"`
	}
	_ = json.Unmarshal(options.External["windtunnel"], &declared) // a script of anybody's has none
	tags := map[string]string{}
	maps.Copy(tags, declared.Tags)
	maps.Copy(tags, options.RunTags)
	if number, of, err := coordinator.PlaceOf(options.ExecutionSegment, options.ExecutionSegmentSequence); err == nil && of > 1 {
		tags[runnerTag] = coordinator.RunnerName(number)
	}
	return tags
}
