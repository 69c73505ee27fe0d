// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/sides"
	"windtunnel/k6/internal/testbed"
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

// engine is the testbed's variable that a side chooses.
const engine = "engine"

// hasSides reports whether a scenario runs programs that the caller names.
func (s Scenario) hasSides() bool { return slices.Contains(s.its.Chooses, engine) }

// sidesOf returns the programs that the caller names, if a scenario runs them. It rejects a program that cannot be run; otherwise each
// row of a matrix would fail separately.
func (a Asked) sidesOf(scenarios []Scenario) (found sides.Sides, f *exit.Fault) {
	if !slices.ContainsFunc(scenarios, Scenario.hasSides) {
		if value := a.Getenv(sides.Baseline); value != "" && !sides.IsKept(a.Root, value) {
			f = exit.BadUsage("BASELINE=%s: no scenario of this run takes a program, and this is no kept baseline: give a name in results/baselines, or the absolute path of its folder", value)
		}
		return found, f
	}
	found, err := sides.Read(a.Root, a.Getenv)
	if err != nil {
		f = exit.BadUsage("%v", err)
	}
	return found, f
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
