// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"fmt"
	"slices"
	"strings"
)

// keptVariables are the caller's variables of k6 itself that reach the k6 of a bench: they say where metrics
// go and where the dashboard is. All others would change what a scenario measures, such as K6_ITERATIONS.
// docs/profiles.md tells them.
var keptVariables = []string{
	"K6_OUT",
	"K6_WEB_DASHBOARD_HOST",
	"K6_WEB_DASHBOARD_PERIOD",
	"K6_WEB_DASHBOARD_PORT",
	"K6_AUTO_EXTENSION_RESOLUTION", // startup.Prepare sets it
	"K6_NO_USAGE_REPORT",           // childEnvironment sets it
}

// keptPrefixes begin the variables of the outputs that K6_OUT names.
var keptPrefixes = []string{"K6_CSV_", "K6_INFLUXDB_", "K6_OTEL_", "K6_PROMETHEUS_RW_"}

// Foreign reports whether a variable of the caller's is k6's own and would change what a scenario measures.
func Foreign(variable string) bool {
	return strings.HasPrefix(variable, "K6_") && !slices.Contains(keptVariables, variable) &&
		!slices.ContainsFunc(keptPrefixes, func(prefix string) bool { return strings.HasPrefix(variable, prefix) })
}

// ForeignOf is a line that names the caller's variables that k6 does not get, "" without any.
func ForeignOf(environ []string) string {
	var names []string
	for _, pair := range environ {
		if name, value, _ := strings.Cut(pair, "="); Foreign(name) && value != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("not passed on to k6, since a scenario says itself how it runs: %s; see docs/profiles.md", strings.Join(names, ", "))
}
