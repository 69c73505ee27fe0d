// SPDX-License-Identifier: AGPL-3.0-only

// Package bundle joins a script with the modules that it imports. Each virtual user of k6 evaluates each module, and keeps a getter for
// each imported name. As one module, a user starts with about half of the CPU time and of the memory.
package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"

	"github.com/evanw/esbuild/pkg/api"
)

// Paths of import.meta.resolve() and of open() are relative to their module. lib/file.js opens absolute paths, as globalThis.open.
var resolves = regexp.MustCompile(`\bimport\.meta\.resolve\b`)

// resolver is import.meta.resolve of the bundle. Its paths are relative to the folder of no module.
const resolver = "const __k6_resolve = import.meta.resolve;"

// Signs of a module that must run as it is.
const (
	opens    = "__opens_a_path__"
	meta     = "__uses_import_meta__"
	opener   = "k6/experimental/fs" // paths are relative to the script
	commonJS = "__commonJS("        // k6 would not find what such a script exports
	requires = "__require("
)

// ErrUnbundled says that a script must run as it is: a module opens a file, perhaps by a relative path, or is no ES module.
var ErrUnbundled = errors.New("a module opens a file without lib/file.js, or is no ES module")

// Join returns a script and its modules as one module. Modules of k6 and of the web stay imports. A source map gives stack traces the
// names and lines of the original files.
func Join(script string) ([]byte, error) {
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{script}, AbsWorkingDir: "/", Outfile: "bundle.js", Bundle: true, Format: api.FormatESModule, Platform: api.PlatformNeutral,
		Target: api.ESNext, Charset: api.CharsetUTF8, External: []string{"k6", "k6/*", "https://*"}, Sourcemap: api.SourceMapInline, SourceRoot: "file:///",
		SourcesContent: api.SourcesContentExclude, LogLevel: api.LogLevelSilent, Define: map[string]string{"open": opens, "import.meta": meta},
		Banner:  map[string]string{"js": resolver},
		Plugins: []api.Plugin{{Name: "resolve", Setup: func(build api.PluginBuild) { build.OnLoad(api.OnLoadOptions{Filter: `\.[cm]?[jt]s$`}, load) }}},
	})
	if len(built.Errors) > 0 {
		return nil, reported(built.Errors[0])
	}
	made := built.OutputFiles[0].Contents
	for _, sign := range []string{opens, meta, opener, commonJS, requires} {
		if bytes.Contains(made, []byte(sign)) {
			return nil, ErrUnbundled
		}
	}
	return made, nil
}

// reported is an error of esbuild with its place.
func reported(message api.Message) error {
	if at := message.Location; at != nil {
		return fmt.Errorf("/%s:%d: %s", at.File, at.Line, message.Text)
	}
	return errors.New(message.Text)
}

// load gives a module that resolves paths the resolver of its folder. It stays on the first line, because of the source map.
func load(module api.OnLoadArgs) (loaded api.OnLoadResult, err error) {
	text, err := os.ReadFile(module.Path)
	if err != nil {
		return loaded, err
	}
	contents := string(text)
	if resolves.MatchString(contents) {
		folder := url.URL{Path: filepath.Dir(module.Path) + "/"}
		contents = fmt.Sprintf(`const __resolve = (path) => __k6_resolve(path[0] === "." ? %q + path : path); `, folder.EscapedPath()) +
			resolves.ReplaceAllLiteralString(contents, "__resolve")
	}
	loaded.Contents, loaded.Loader = &contents, api.LoaderDefault
	return loaded, nil
}
