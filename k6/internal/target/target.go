// SPDX-License-Identifier: AGPL-3.0-only

// Package target knows what `make TARGET` measures: make hands the targets of systems, scenarios and comparisons on to it, with its
// variables as the environment.
package target

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/listing"
	"windtunnel/k6/internal/variables"
)

// Call is one of our commands, with its arguments. Set replaces variables of the caller, and Unset removes them.
type Call struct {
	Args  []string
	Set   map[string]string
	Unset []string
}

// Plan is what a target does.
type Plan struct {
	// Needs prints what make has to build before, if Args is not empty; Built are further files that make has to build.
	Needs Call
	Built []string
	// Calls are made one after the other. The last failure is the target's.
	Calls []Call
	// Refused says why the calls cannot be made. Make can still build their needs.
	Refused *exit.Fault
}

// interopPrograms are what no testbed starts unless it is asked to.
const interopPrograms = "sing-box,sing-box-1.13,sing-box-next,xray,mihomo"

// ComparisonProfile is the default of comparisons: a difference shows in its turns.
const ComparisonProfile = "quick"

// Of makes the plan of a target. Env is what make was given, and root the checkout, which has the systems and their scenarios.
func Of(name, root string, env map[string]string) (Plan, *exit.Fault) {
	switch name {
	case "bench":
		return benched(nil), nil
	case "compare":
		return compared(env), nil
	case "panel-compare":
		return panelCompared(env), nil
	case "protocols-compare":
		return protocolsCompared(env)
	case "protocols-interop":
		programs := cmp.Or(env["PROGRAMS"], interopPrograms)
		plan := benched(map[string]string{"ONLY": "protocols/interop", "PROGRAMS": programs})
		for _, program := range strings.Split(programs, ",") {
			plan.Built = append(plan.Built, "bin/"+program)
		}
		return plan, nil
	}
	scenario := named(name, root)
	if scenario == "" {
		return Plan{}, exit.BadUsage("%s is no target that measures", name)
	}
	only, wrong := within(scenario, env["ONLY"])
	system, problems := check.System(root, name)
	switch {
	case wrong != nil:
		return Plan{}, wrong
	case len(problems) > 0:
		return Plan{}, exit.BadUsage("%s", strings.Join(problems, "\n"))
	case len(system.Testbeds) > 0:
		return inTurn(name, system.Testbeds, only, env), nil
	}
	return benched(map[string]string{"ONLY": only}), nil
}

// named is the system or the scenario, as SYSTEM/SCENARIO, that a target is called after; "" if there is none.
func named(name, root string) string {
	if isSystem(root, name) {
		return name
	}
	for _, script := range listing.In(root, "scripts/*/*.js") {
		system, scenario := filepath.Base(filepath.Dir(script)), strings.TrimSuffix(filepath.Base(script), ".js")
		if !strings.HasPrefix(scenario, "_") && (name == system+"/"+scenario || name == system+"-"+scenario) {
			return system + "/" + scenario
		}
	}
	return ""
}

func isSystem(root, system string) bool {
	info, err := os.Stat(filepath.Join(root, "scripts", system))
	return err == nil && info.IsDir() && system != "" && !strings.Contains(system, "/")
}

// within is what of a target ONLY asks for: all of it unless given.
func within(of, only string) (string, *exit.Fault) {
	if only == "" {
		return of, nil
	}
	for _, name := range strings.Split(only, ",") {
		if name != of && !strings.HasPrefix(name, of+"/") && !strings.HasPrefix(name, of+"-") {
			return "", exit.BadUsage("ONLY=%s names what is not of %s: leave it out, or run `make bench`", only, of)
		}
	}
	return only, nil
}

func benched(set map[string]string) Plan {
	return Plan{Needs: Call{Args: []string{"needs"}, Set: set}, Calls: []Call{{Args: []string{"bench"}, Set: set}}}
}

var unfit = regexp.MustCompile(`[^a-z0-9.-]`)

// inTurn runs a system on each of its testbeds in turn; without TESTBED, other environments than the default have their
// own. A machine that cannot run one of them goes on with the next.
func inTurn(system string, testbeds []string, only string, env map[string]string) Plan {
	names := strings.Fields(env["TESTBED"])
	leaveOut := ""
	if len(names) == 0 {
		leaveOut = "1"
		names = strings.Fields(env[strings.ToUpper(system)+"_TESTBEDS"])
		if len(names) == 0 && cmp.Or(env["ENV"], variables.Default("ENV")) == variables.Default("ENV") {
			names = testbeds
		}
	}
	plan := Plan{Needs: Call{Args: []string{"needs"}, Set: map[string]string{"ONLY": only}}}
	for _, bed := range names {
		plan.Needs.Args = append(plan.Needs.Args, "--testbed", bed)
	}
	if len(names) == 0 {
		names = []string{""} // the environment's own
	}
	for _, bed := range names {
		set := map[string]string{"ONLY": only, "TESTBED": bed, "MAY_LEAVE_OUT": leaveOut}
		if env["RUN_ID"] != "" {
			set["RUN_ID"] = env["RUN_ID"] + "-" + unfit.ReplaceAllString(bed, "-")
		}
		plan.Calls = append(plan.Calls, Call{Args: []string{"bench"}, Set: set})
	}
	return plan
}

// compared is a comparison of two sides, or of a base and a head that it builds. It gets its variables as flags: scripts do not get them.
func compared(env map[string]string) Plan {
	call := Call{Args: []string{"compare"}}
	// Rows of the matrix in place of a scenario judge themselves.
	rows := env["PROTOCOL"] != "" && env["SCENARIO"] == ""
	if rows {
		call.Args = append(call.Args, "--protocol", env["PROTOCOL"])
	}
	built := env["BASE"]+env["HEAD"]+env["REPOSITORY"] != ""
	for _, v := range variables.OfCommand("compare") {
		call.Unset = append(call.Unset, v.Name)
		value, side := env[v.Name], v.Name == "A" || v.Name == "B"
		switch {
		case side && built, !side && value == "", v.Flags["compare"] == variables.OfBuilds && !built:
		case v.Unit == variables.Flag:
			call.Args = append(call.Args, "--"+variables.FlagName(v.Name))
		default:
			call.Args = append(call.Args, "--"+variables.FlagName(v.Name), value)
		}
	}
	plan := Plan{Calls: []Call{call}}
	switch {
	case built:
	case rows:
		// A and B replace the programs of BASELINE and CANDIDATE.
		plan.Needs = Call{Args: []string{"needs"}, Set: map[string]string{"ONLY": "protocols/matrix", "BASELINE": "", "CANDIDATE": ""}}
	default:
		plan.Needs = Call{Args: []string{"needs", "--scenario", env["SCENARIO"], "--testbed", env["A"], "--testbed", env["B"]}}
	}
	return plan
}

// PanelScenarios are what two database drivers of the panel are compared by.
const PanelScenarios = "panel/users-create,panel/users-disable,panel/users-enable"

// PanelSide is a side of such a comparison: a driver's name is that of the testbed with this driver, and a testbed is itself.
func PanelSide(given string) string {
	if given == "" || strings.Contains(given, ":") {
		return given
	}
	return "panel:driver=" + given
}

// panelCompared is a comparison of two database drivers of the panel.
func panelCompared(env map[string]string) Plan {
	given := maps.Clone(env)
	given["A"], given["B"], given["SCENARIO"] = PanelSide(env["A"]), PanelSide(env["B"]), PanelScenarios
	plan := compared(given)
	profile := map[string]string{"PROFILE": cmp.Or(env["PROFILE"], ComparisonProfile)}
	plan.Needs.Set, plan.Calls[0].Set = profile, profile
	return plan
}

// protocolsCompared is the matrix of protocols with a candidate.
func protocolsCompared(env map[string]string) (Plan, *exit.Fault) {
	only, wrong := within("protocols/matrix", env["ONLY"])
	if wrong != nil {
		return Plan{}, wrong
	}
	plan := benched(map[string]string{"ONLY": only, "PROFILE": cmp.Or(env["PROFILE"], ComparisonProfile)})
	if env["CANDIDATE"] == "" {
		plan.Refused = exit.BadUsage("make: CANDIDATE is not set: give the absolute path of a program, an engine (hysteria, mihomo, shadowsocks-rust, xray), ENGINE:/absolute/path, or a FILE.toml")
	}
	return plan, nil
}
