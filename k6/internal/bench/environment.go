// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"maps"
	"path/filepath"
	"strings"

	"windtunnel/k6/internal/ambient"
	"windtunnel/k6/internal/sidecar"
	"windtunnel/k6/internal/variables"
)

// token is what the sidecar wants to see with each request, "" where it wants none.
func (b *session) token() string {
	if b.sidecar == nil {
		return ""
	}
	return b.sidecar.Token
}

// childEnvironment is the caller's environment without ambient settings, what the scenarios need to know, and the testbed's
// outputs, secrets among them: they are nowhere but here.
func (b *session) childEnvironment(j job, instance sidecar.Instance) []string {
	set := map[string]string{
		"PROFILE":            b.Profile,
		"ENV":                b.Env,
		"RUN_ID":             j.runID,
		"RESULT_DIR":         j.dir,
		"K6_NO_USAGE_REPORT": "true",
		"VERSIONS":           b.known,
		// A folder without k6/config.json, by which k6 would take options that nobody sees.
		"XDG_CONFIG_HOME": filepath.Join(j.dir, "logs"),
	}
	set["MEASURED_AGAIN"] = ""
	if j.again {
		set["MEASURED_AGAIN"] = "1" // it waits until others leave the CPUs alone, for some seconds
	}
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
			set["K6_WEB_DASHBOARD_PERIOD"] = "1s" // k6's 10 s show nothing of a short run
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
