// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"windtunnel/k6/internal/ambient"
	"windtunnel/k6/internal/barrier"
	"windtunnel/k6/internal/sidecar"
	"windtunnel/k6/internal/variables"
)

// token is the token that the sidecar requires with each request, "" if it requires no token.
func (b *session) token() string {
	if b.sidecar == nil {
		return ""
	}
	return b.sidecar.Token
}

// childEnvironment is the caller's environment without ambient settings, plus the variables of the scenarios and the
// testbed's outputs. Secrets among those outputs exist nowhere else.
func (b *session) childEnvironment(j job, instance sidecar.Instance) []string {
	set := map[string]string{
		"PROFILE":            b.Profile,
		"ENV":                b.Env,
		"RUN_ID":             j.runID,
		"RESULT_DIR":         j.dir,
		"RECORD_ONLY":        "1",
		"K6_NO_USAGE_REPORT": "true",
		"VERSIONS":           b.known,
		// This folder has no k6/config.json, from which k6 would silently take options.
		"XDG_CONFIG_HOME": filepath.Join(j.dir, "logs"),
	}
	set["MEASURED_AGAIN"] = ""
	if j.again {
		set["MEASURED_AGAIN"] = "1" // the script waits some seconds for other programs to leave the CPUs idle
	}
	set[barrier.Variable] = j.barrier
	if b.noRest && b.Getenv("REST_S") == "" {
		set["REST_S"] = "0"
	}
	if b.sidecar != nil {
		set["SIDECAR_URL"] = b.sidecar.URL
	}
	if token := b.token(); token != "" {
		set["SIDECAR_TOKEN"] = token
	}
	maps.Copy(set, j.placement.Variables())
	if j.sweep != nil && j.sweep.Applies(instance.Variables) && b.Getenv("SWEEP") == "" {
		set["SWEEP"] = j.sweep.Variable
		if b.Getenv("VALUES") == "" {
			set["VALUES"] = j.sweep.List()
		}
	}
	if instance.ID != "" {
		set["INSTANCE"] = instance.ID
	}
	b.addOutput(set)
	if b.Dashboard {
		set["K6_WEB_DASHBOARD"] = "true"
		set["K6_WEB_DASHBOARD_HOST"] = b.DashboardHost()
		if b.Getenv("K6_WEB_DASHBOARD_PERIOD") == "" {
			set["K6_WEB_DASHBOARD_PERIOD"] = "1s" // k6's default of 10 s shows nothing of a short run
		}
		set["K6_WEB_DASHBOARD_EXPORT"] = j.file(".dashboard.html")
	}
	maps.Copy(set, instance.Outputs)
	maps.Copy(set, instance.SecretOutputs)
	var env []string
	kept, _ := ambient.Without(b.Environ)
	for _, pair := range kept {
		name, _, _ := strings.Cut(pair, "=")
		if _, ours := set[name]; !ours && !variables.Foreign(name) {
			env = append(env, pair)
		}
	}
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	return env
}

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
