// SPDX-License-Identifier: AGPL-3.0-only

package check

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/schema"
)

// settingsSchema is the optional schema of a system's settings, in the folder of its scripts.
const settingsSchema = "settings.schema.json"

// checkSystem finds a system without scripts, and settings that its scripts do not know.
func checkSystem(base, name string, of environment.System) []schema.Problem {
	known := systems(base)
	if len(known) > 0 && !slices.Contains(known, name) {
		return []schema.Problem{{Field: schema.Field([]string{"systems", name}), Message: fmt.Sprintf(
			"there is no folder scripts/%s; there are: %s%s", name, strings.Join(known, ", "), closest.Hint(name, known))}}
	}
	path := filepath.Join(base, "scripts", name, settingsSchema)
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	settings := []string{"systems", name, "settings"}
	problems, err := schema.CheckBy(path, of.Settings)
	if err != nil {
		return []schema.Problem{{Field: schema.Field(settings), Message: fmt.Sprintf(
			"scripts/%s/%s is no JSON Schema: %s", name, settingsSchema, strings.ReplaceAll(err.Error(), "\n", " "))}}
	}
	for i, problem := range problems {
		problems[i].Field = schema.Field(settings)
		if problem.Field != "" {
			problems[i].Field += "." + problem.Field
		}
	}
	return problems
}

// systems lists the folders of scripts.
func systems(base string) (names []string) {
	entries, _ := fs.ReadDir(os.DirFS(base), "scripts")
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names
}
