// SPDX-License-Identifier: AGPL-3.0-only

package bundle

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// written makes the files of a folder whose name has letters that URLs and texts of JavaScript read otherwise.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), `a "b" ä#%41`)
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(folder, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestModulesBecomeOne(t *testing.T) {
	folder := written(t, map[string]string{
		"s.js":       "import http from 'k6/http'; import { a } from './lib/a.js'; import { t } from './lib/t.ts'; export default () => http.get(a, t)",
		"lib/t.ts":   "export const t: string = import.meta.resolve('./y')",
		"lib/a.js":   "export const a = import.meta.resolve('../x')",
		"opens.js":   "export default () => {}; const data = open('./data.csv'); export const options = { data }",
		"fs.js":      "import { open } from 'k6/experimental/fs'; const file = await open('./data.csv'); export default () => file.read()",
		"meta.js":    "const { resolve } = import.meta; export default () => resolve('./x')",
		"mixed.js":   "import http from 'k6/http'; const data = require(__ENV.SET); export default () => http.get(data)",
		"common.js":  "const http = require('k6/http'); exports.default = () => http.get('')",
		"own.js":     "const loop = { open: (open) => open(1) }; export default () => loop.open(() => globalThis.open('/x'))",
		"wrong.js":   "import './nothing.js'",
		"imports.js": "import './syntax.js'",
		"syntax.js":  "export default () => {",
	})
	made, err := Join(filepath.Join(folder, "s.js"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(made)
	for _, part := range []string{`from "k6/http"`, `/a%20%22b%22%20%C3%A4%23%2541/lib/"`, "//# sourceMappingURL=data:application/json;base64,"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %s", part, text)
		}
	}
	if strings.Count(text, "import ") != 1 {
		t.Errorf("an import is left: %s", text)
	}
	_, encoded, _ := strings.Cut(text, "base64,")
	sources, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil || !strings.Contains(string(sources), "%2541/lib/a.js") {
		t.Errorf("stack traces do not name the module: %s, %v", sources, err)
	}
	for _, name := range []string{"opens.js", "fs.js", "common.js", "meta.js", "mixed.js"} {
		if _, err := Join(filepath.Join(folder, name)); !errors.Is(err, ErrUnbundled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Join(filepath.Join(folder, "own.js")); err != nil {
		t.Errorf("own.js: %v", err)
	}
	for name, place := range map[string]string{"wrong.js": "wrong.js:1: ", "syntax.js": "syntax.js:1: ", "imports.js": "syntax.js:1: "} {
		if _, err := Join(filepath.Join(folder, name)); err == nil || !strings.HasPrefix(err.Error(), filepath.Join(folder, place)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAllScriptsAreBundled(t *testing.T) {
	scripts, err := filepath.Glob("../../../scripts/*/*.js")
	if err != nil || len(scripts) < 50 {
		t.Fatal(len(scripts), err)
	}
	for _, script := range scripts {
		path, err := filepath.Abs(script)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Join(path); err != nil {
			t.Errorf("%s: %v", script, err)
		}
	}
}
