// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"
	"encoding/json"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"
)

// versions is the JSON of what the bench knows of versions and of what the caller's VERSIONS adds:
// k6 as linked into this binary, and the checkout's git revision where git can tell.
func (o Options) versions() string {
	known := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "go.k6.io/k6" {
				known["k6"] = strings.TrimPrefix(dep.Version, "v")
			}
		}
	}
	if revision := gitRevision(o.Root); revision != "" {
		known["windtunnel_revision"] = revision
	}
	_ = json.Unmarshal([]byte(o.Getenv("VERSIONS")), &known) // the caller's own, where it gives any
	text, err := json.Marshal(known)
	if err != nil {
		return "{}"
	}
	return string(text)
}

// gitRevision is the short hash of the checkout's commit, with -dirty where files differ from it and -unknown
// where git cannot tell that, or "" where there is no git or no commit.
func gitRevision(root string) string {
	git := func(args ...string) (string, bool) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output()
		return strings.TrimSpace(string(out)), err == nil
	}
	revision, ok := git("rev-parse", "--short=10", "HEAD")
	if !ok {
		return ""
	}
	switch changed, ok := git("status", "--porcelain", "--untracked-files=no"); {
	case !ok:
		revision += "-unknown"
	case changed != "":
		revision += "-dirty"
	}
	return revision
}
