// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"encoding/json"
	"path/filepath"

	"windtunnel/k6/internal/run"
)

// Write writes compare.json and compare.md into dir.
func (c Comparison) Write(dir string) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if err := run.WriteFile(filepath.Join(dir, FileName), append(data, '\n')); err != nil {
		return err
	}
	return run.WriteFile(filepath.Join(dir, PageName), []byte(c.Markdown()))
}
