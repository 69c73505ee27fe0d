// SPDX-License-Identifier: AGPL-3.0-only

// Package bundle joins a script with the modules that it imports. Each virtual user of k6 evaluates each module, and keeps a getter for
// each imported name. As one module, a user starts with about half of the CPU time and of the memory.
package bundle

import (
	"bytes"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"regexp"

	"github.com/evanw/esbuild/pkg/api"
)

// Paths of import.meta.resolve() and of open() are relative to their module. lib/file.js opens absolute paths, as globalThis.open.
var resolves = regexp.MustCompile(`\bimport\.meta\.resolve\(`)

const opens = "__opens_a_path_of_its_own__"

// opener is a module of k6 that opens files by paths that are relative to the script.
const opener = "k6/experimental/fs"

// commonJS is the wrapper of a module with require(). k6 would not find what such a script exports.
const commonJS = "__commonJS("

// ErrUnbundled says that a script must run as it is: a module opens a file, perhaps by a relative path, or is no ES module.
var ErrUnbundled = errors.New("a module opens a file without lib/file.js, or is no ES module")

// Join returns a script and its modules as one module. Modules of k6 and of the web stay imports. A source map gives stack traces the
// names and lines of the original files.
func Join(script string) ([]byte, error) {
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{script}, AbsWorkingDir: "/", Outfile: "bundle.js", Bundle: true, Format: api.FormatESModule, Platform: api.PlatformNeutral,
		Target: api.ESNext, Charset: api.CharsetUTF8, External: []string{"k6", "k6/*", "https://*"}, Sourcemap: api.SourceMapInline, SourceRoot: "file:///",
		SourcesContent: api.SourcesContentExclude, LogLevel: api.LogLevelSilent, Define: map[string]string{"open": opens},
		Plugins: []api.Plugin{{Name: "resolve", Setup: func(build api.PluginBuild) { build.OnLoad(api.OnLoadOptions{Filter: `\.[cm]?[jt]s$`}, load) }}},
	})
	if len(built.Errors) > 0 {
		return nil, errors.New(built.Errors[0].Text)
	}
	made := built.OutputFiles[0].Contents
	for _, sign := range []string{opener, opens, commonJS} {
		if bytes.Contains(made, []byte(sign)) {
			return nil, ErrUnbundled
		}
	}
	return made, nil
}

// load makes the paths of a module's import.meta.resolve() absolute.
func load(module api.OnLoadArgs) (loaded api.OnLoadResult, err error) {
	text, err := os.ReadFile(module.Path)
	if err != nil {
		return loaded, err
	}
	folder := url.URL{Scheme: "file", Path: filepath.Dir(module.Path) + "/"}
	contents := resolves.ReplaceAllLiteralString(string(text), `import.meta.resolve("`+folder.String()+`" + `)
	loaded.Contents, loaded.Loader = &contents, api.LoaderDefault
	return loaded, nil
}
