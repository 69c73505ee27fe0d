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

// versions returns a JSON object of versions: the k6 linked into this binary, the checkout's git revision if git knows
// it, and the entries of the caller's VERSIONS.
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
	_ = json.Unmarshal([]byte(o.Getenv("VERSIONS")), &known) // adds the caller's own versions
	text, err := json.Marshal(known)
	if err != nil {
		return "{}"
	}
	return string(text)
}

// gitRevision is the short hash of the checkout's commit. It has the suffix -dirty if files differ from the commit, and
// -unknown if git cannot say whether they differ. It is "" without git or without a commit.
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
