// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"encoding/json"
	"fmt"
	"os"

	"windtunnel/k6/internal/listing"
)

// ReadAll reads the comparisons in a folder: a single one in the folder, or one in each subfolder. There may be none;
// the error names the file.
func ReadAll(dir string) ([]Comparison, error) {
	var all []Comparison
	for _, pattern := range []string{FileName, "*/" + FileName} {
		for _, path := range listing.In(dir, pattern) {
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			var c Comparison
			if err := json.Unmarshal(data, &c); err != nil || c.Schema != Schema {
				return nil, fmt.Errorf("%s: is no comparison of this version (%s)", path, Schema)
			}
			all = append(all, c)
		}
		if len(all) > 0 {
			break
		}
	}
	return all, nil
}
