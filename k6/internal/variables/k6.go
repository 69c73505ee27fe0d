// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"fmt"
	"slices"
	"strings"
)

// keptVariables are the caller's variables of k6 itself that reach the k6 of a bench: they say where metrics
// go and where the dashboard is. All others would change what a scenario measures, such as K6_ITERATIONS.
// docs/reference/variables.md tells them.
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
	return fmt.Sprintf("not passed on to k6, since a scenario says itself how it runs: %s; see docs/reference/variables.md", strings.Join(names, ", "))
}

// harmlessPrefixes begin further variables of k6's own that a plain `k6 run` may have: they say where k6 writes, or who asks.
var harmlessPrefixes = []string{"K6_WEB_DASHBOARD", "K6_LOG_", "K6_CLOUD_", "K6_BROWSER_", "K6_SUMMARY_"}

var harmless = []string{"K6_INCLUDE_SYSTEM_ENV_VARS", "K6_NO_COLOR", "K6_CONSOLE_OUTPUT", "K6_LINGER", "K6_TYPE", "K6_ADDRESS", "K6_QUIET", "K6_VERBOSE",
	"K6_NO_SUMMARY", "K6_USER_AGENT", "K6_PROFILING_ENABLED", "K6_TEST_NAME", "K6_BINARY_PROVISIONING", "K6_BINARY_CACHE"}

// FromShell are the variables, as NAME=VALUE, by which the shell changes what a plain `k6 run` measures.
func FromShell(environ []string) (pairs []string) {
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if value == "" || !Foreign(name) || slices.Contains(harmless, name) ||
			slices.ContainsFunc(harmlessPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		pairs = append(pairs, pair)
	}
	slices.Sort(pairs)
	return pairs
}

// FromShellLine is a line that says so, "" without any.
func FromShellLine(environ []string) string {
	pairs := FromShell(environ)
	if len(pairs) == 0 {
		return ""
	}
	return fmt.Sprintf("k6 takes settings from the shell, and the result has them as the parameter k6_settings: %s", strings.Join(pairs, ", "))
}
