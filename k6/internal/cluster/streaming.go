// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"bytes"
	"net/url"

	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/stream"
)

// streamed reports whether pods stream to InfluxDB, as INFLUX asks. It rejects an address that pods cannot reach. If
// only a secret is given, InfluxDB is on this machine: then nothing is streamed, and aside says so.
func streamed(getenv func(string) string) (wanted bool, aside string, f *exit.Fault) {
	config, err := influx.FromEnvironment(getenv)
	switch {
	case err != nil:
		return false, "", exit.BadUsage("%v", err)
	case !config.Given && getenv(influx.VariablePassword) != "":
		return false, "not streamed: " + influx.VariableURL + " is not set, and pods would not find an InfluxDB on this machine", nil
	case !config.Given:
		return false, "", nil
	}
	if at, err := url.Parse(config.URL); err == nil && environment.IsLoopback(at.Hostname()) {
		return false, "", exit.BadUsage("%s=%s is on this machine: pods would not find it; give an address that they reach, or unset it", influx.VariableURL, config.URL)
	}
	return true, "", nil
}

// heard records the reports of runners' outputs, from their log in the form of `kubectl logs --prefix`.
func heard(ledger *stream.Stream, of stream.Of, log []byte) {
	for line := range bytes.Lines(log) {
		if _, rest, found := bytes.Cut(line, []byte("] {")); found {
			if report, is := influx.ReadReport("{" + string(rest)); is {
				ledger.Heard(of, report)
			}
		}
	}
}
