// SPDX-License-Identifier: AGPL-3.0-only

package document

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadSaysWhere(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"bad JSON":      {"x.json", "{\n  \"a\": 1,\n  }\n", "line 3, column 3: bad JSON: invalid character '}' looking for beginning of object key string; remove the comma before it"},
		"cut off":       {"x.json", "{\"a\": [1,", "line 1, column 9: bad JSON: unexpected end of JSON input"},
		"umlaut before": {"x.json", "{\"ä\": x}", "line 1, column 7: bad JSON"},
		"trailing":      {"x.json", "{} {}", "line 1, column 4: bad JSON"},
		"empty":         {"x.json", " \n", "is empty"},
		"twice":         {"x.json", "{\"a\": {\"b\": 1},\n \"c\": [{\"b\": 1}],\n  \"a\": 2}", `line 3, column 3: the key "a" is there twice`},
		"bad TOML":      {"x.toml", "a = 1\nb = = 2\n", "line 2, column 5: bad TOML"},
		"twice TOML":    {"x.toml", "a = 1\na = 2\n", "bad TOML"},
		"missing":       {"", "", "no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "none.json")
			if c.file != "" {
				path = filepath.Join(filepath.Dir(path), c.file)
				if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Read(path)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), path)) {
				t.Errorf("not one line without the path: %q", err)
			}
		})
	}
}

func TestReadTakesGoodFiles(t *testing.T) {
	for file, text := range map[string]string{
		"a.json": "\xef\xbb\xbf{\"n\": 12345678901234567890, \"s\": [\"a\", \"a\"], \"o\": {\"n\": {\"n\": 1}}}",
		"b.toml": "n = 1\n[o]\ns = [\"a\"]\n",
	} {
		path := filepath.Join(t.TempDir(), file)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
