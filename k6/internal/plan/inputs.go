// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/testbed"
	"windtunnel/k6/internal/variables"
)

// checkOf rejects the caller's testbed if it starts the system of none of the scenarios: it would be unused.
func checkOf(bed testbed.Testbed, chosen []Scenario) *exit.Fault {
	var systems []string
	for _, s := range chosen {
		if bed.Starts(s.System) {
			return nil
		}
		if !slices.Contains(systems, s.System) {
			systems = append(systems, s.System)
		}
	}
	return exit.BadUsage("testbeds/%s.toml starts the system %s, and the scenarios chosen are of %s: give a testbed that starts it, or none",
		bed.Name, bed.System, strings.Join(systems, ", "))
}

// isEngine reports whether a value of CANDIDATE is the name of an engine's file, which names the program.
func (a Asked) isEngine(name string) bool {
	if name != filepath.Base(name) {
		return false
	}
	_, err := os.Stat(filepath.Join(a.Root, "testbeds/protocols/engines", name+".toml"))
	return err == nil
}

// checkPrograms rejects programs that cannot be run; otherwise each row of a matrix would fail separately.
func (a Asked) checkPrograms(scenarios []Scenario) *exit.Fault {
	if !slices.ContainsFunc(scenarios, func(s Scenario) bool { return variables.ReadBy("CANDIDATE", s.String()) }) {
		return nil
	}
	for _, variable := range []string{"CANDIDATE", "CANDIDATE_CLIENT", "CANDIDATE_SERVER", "CANDIDATE_FILTER", "BASELINE", "BASELINE_FILTER"} {
		path := a.Getenv(variable)
		if path == "" || a.isEngine(path) && !strings.HasSuffix(variable, "_FILTER") && variable != "BASELINE" {
			continue
		}
		if wrong := notProgram(path); wrong != "" {
			return exit.BadUsage("%s=%s: %s; give the absolute path of a binary", variable, path, wrong)
		}
	}
	return nil
}

// notProgram says why a path is no program, "" if it is one.
func notProgram(path string) string {
	if !filepath.IsAbs(path) {
		return "not an absolute path"
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return exit.Reason(err).Error()
	case info.IsDir():
		return "a folder"
	case !info.Mode().IsRegular():
		return "not a file"
	case info.Mode()&0o111 == 0:
		return "not executable"
	}
	return ""
}

// checkDashboard rejects a dashboard whose port is in use: its address would show the other program.
func (a Asked) checkDashboard() *exit.Fault {
	if !a.Dashboard {
		return nil
	}
	port := a.DashboardPort()
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return exit.BadUsage("K6_WEB_DASHBOARD_PORT=%s: give a port, 1 to 65535", port)
	}
	address := net.JoinHostPort(a.DashboardHost(), port)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return exit.BadSetup("DASHBOARD: nothing can listen at %s (%s); set K6_WEB_DASHBOARD_PORT to another port, or stop the program that uses it",
			address, exit.LastPart(err))
	}
	_ = listener.Close()
	return nil
}

func (a Asked) DashboardHost() string { return cmp.Or(a.Getenv("K6_WEB_DASHBOARD_HOST"), "127.0.0.1") }

// DashboardPort is k6's default unless the caller sets another.
func (a Asked) DashboardPort() string { return cmp.Or(a.Getenv("K6_WEB_DASHBOARD_PORT"), "5665") }

func (a Asked) DashboardURL() string {
	return fmt.Sprintf("http://%s", net.JoinHostPort(a.DashboardHost(), a.DashboardPort()))
}
