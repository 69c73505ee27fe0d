// SPDX-License-Identifier: AGPL-3.0-only

package windtunnel

import (
	"encoding/json"
	"maps"
	"strconv"

	"go.k6.io/k6/lib"

	"windtunnel/k6/internal/coordinator"
)

// tagsOf are the tags of a whole run: the script's declared tags (`ext.windtunnel.tags`), k6's tags, and the runner's
// number if there are several. Tags are declared in the script because a tag on the command line replaces them all.
func tagsOf(options lib.Options) map[string]string {
	var declared struct {
		Tags map[string]string `json:"tags"`
	}
	_ = json.Unmarshal(options.External["windtunnel"], &declared) // a user's own script may have none
	tags := map[string]string{}
	maps.Copy(tags, declared.Tags)
	maps.Copy(tags, options.RunTags)
	if number, of, err := coordinator.PlaceOf(options.ExecutionSegment, options.ExecutionSegmentSequence); err == nil && of > 1 {
		tags[runnerTag] = strconv.Itoa(number)
	}
	return tags
}
