// SPDX-License-Identifier: AGPL-3.0-only

package sides

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/variables"
)

// written makes a checkout with the engines, and a fork of sing-box, and files in it.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	engines := filepath.Join(folder, "testbeds/protocols/engines")
	if err := os.CopyFS(engines, os.DirFS("../../../testbeds/protocols/engines")); err != nil {
		t.Fatal(err)
	}
	fork := "[parts]\nreads = \"sing-box\"\nprogram = \"{{ root }}/fork/proxy\"\nconfig_option = \"-c\"\nversion = \"true\"\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(engines, "fork.toml"), []byte(fork), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

const (
	ours   = `"engine":"sing-box","binary":"","args":"","env":"","filter":""`
	shell  = `"engine":"sing-box","binary":"/bin/sh","args":"","env":"","filter":""`
	ofXray = `"engine":"xray","binary":"/bin/sh","args":"","env":"","filter":""`
	whole  = "engine = \"xray\"\nprogram = \"/bin/sh\"\nargs = [\"-d\", \"/tmp\"]\nfilter = \"/bin/cat\"\nenv = { B = \"2=3\", A = \"\" }\n"
)

func TestEachForm(t *testing.T) {
	root := written(t, map[string]string{
		"whole.toml": whole, "env.toml": "env.A = \"1\"", "empty.toml": "",
		"client.toml": "client = \"xray:/bin/sh\"", "server.toml": "engine = \"xray\"\nserver = \"/bin/sh\"\nargs = [\"x\"]", "both.toml": "client = \"fork\"\nserver = \"mihomo\"",
	})
	const settings = `"args":"-d /tmp","env":"A= B=2=3","filter":"/bin/cat"`
	told := func(side string) string {
		return `"settings":{"` + side + `_args":"-d /tmp","` + side + `_env":"A= B=2=3","` + side + `_filter":"/bin/cat"}`
	}
	fork := strings.Replace(ours, `binary":"`, `binary":"`+root+"/fork/proxy", 1)
	for pairs, want := range map[string]struct{ side, engines string }{
		"":                                  {`"baseline",` + ours + `,"settings":{}`, "sing-box"},
		"CANDIDATE=/bin/sh":                 {`"candidate",` + shell + `,"settings":{}`, "sing-box"},
		"CANDIDATE=sing-box":                {`"candidate",` + ours + `,"settings":{}`, "sing-box,sing-box"},
		"CANDIDATE=fork":                    {`"candidate",` + fork + `,"settings":{}`, "sing-box,fork"},
		"CANDIDATE=fork:/bin/sh":            {`"candidate",` + shell + `,"settings":{}`, "sing-box"},
		"CANDIDATE=xray:/bin/sh":            {`"candidate",` + ofXray + `,"settings":{}`, "sing-box"},
		"BASELINE=xray CANDIDATE=/bin/sh":   {`"candidate",` + ofXray + `,"settings":{}`, "xray"},
		"BASELINE=xray:/bin/sh":             {`"baseline",` + ofXray + `,"settings":{}`, ""},
		"BASELINE=whole.toml":               {`"baseline","engine":"xray","binary":"/bin/sh",` + settings + `,` + told("baseline"), ""},
		"CANDIDATE=whole.toml":              {`"candidate","engine":"xray","binary":"/bin/sh",` + settings + `,` + told("candidate"), "sing-box"},
		"CANDIDATE=" + root + "/whole.toml": {`"candidate","engine":"xray","binary":"/bin/sh",` + settings + `,` + told("candidate"), "sing-box"},
		"CANDIDATE=whole.toml:/bin/ls":      {`"candidate","engine":"xray","binary":"/bin/ls",` + settings + `,` + told("candidate"), "sing-box"},
		"CANDIDATE=empty.toml":              {`"candidate",` + ours + `,"settings":{}`, "sing-box,sing-box"},
		"CANDIDATE=env.toml":                {`"candidate","engine":"sing-box","binary":"","args":"","env":"A=1","filter":"","settings":{"candidate_env":"A=1"}`, "sing-box,sing-box"},
		"CANDIDATE=client.toml":             {`"candidate",` + ofXray + `,"server":{` + ours + `},"settings":{}`, "sing-box"},
		"BASELINE=/bin/ls CANDIDATE=server.toml": {`"candidate","engine":"sing-box","binary":"/bin/ls","args":"","env":"","filter":"",` +
			`"server":{"engine":"xray","binary":"/bin/sh","args":"x","env":"","filter":""},"settings":{"candidate_args":"x"}`, ""},
		"CANDIDATE=both.toml": {`"candidate",` + fork + `,"server":{"engine":"mihomo","binary":"","args":"","env":"","filter":""},"settings":{}`, "sing-box,fork,mihomo"},
	} {
		found, err := Read(root+"/", given(pairs))
		if err != nil {
			t.Errorf("%s: %v", pairs, err)
			continue
		}
		side := &found.Baseline
		if found.Candidate != nil {
			side = found.Candidate
		}
		engine, compared := side.Settings["candidate_engine"]
		delete(side.Settings, "candidate_engine")
		if compared != (found.Candidate != nil) || side.Server == nil && compared && engine != side.Engine {
			t.Errorf("%s: candidate_engine is %q", pairs, engine)
		}
		text, err := json.Marshal(side)
		if err != nil || string(text) != `{"name":`+want.side+`}` || strings.Join(found.Engines, ",") != want.engines {
			t.Errorf("%s: %v %s of %q\nwant     {\"name\":%s}", pairs, err, text, found.Engines, want.side)
		}
	}
}

func TestTheEnginesOfBothEndsTellRunsApart(t *testing.T) {
	root := written(t, map[string]string{"client.toml": "client = 'xray'", "server.toml": "server = 'xray'", "both.toml": "client = 'xray'\nserver = 'mihomo'"})
	for file, want := range map[string]string{"client": "xray as client", "server": "xray as server", "both": "xray as client, mihomo as server"} {
		found, err := Read(root, given("CANDIDATE="+file+".toml"))
		if err != nil || found.Candidate.Settings["candidate_engine"] != want {
			t.Errorf("%s: %v %v", file, err, found.Candidate.Settings)
		}
	}
}

func given(pairs string) func(string) string {
	return func(name string) string { return variables.In(strings.Fields(pairs), name) }
}

func TestEachMalformedFormIsNamed(t *testing.T) {
	const forms = "; give the absolute path of a program, an engine (fork, hysteria, mihomo, shadowsocks-rust, shoes, sing-box, xray), ENGINE:/absolute/path, or a FILE.toml"
	const program = "; give the absolute path of a program"
	root := written(t, map[string]string{"plain": "x"})
	plain := root + "/plain"
	for pair, says := range map[string]string{
		"CANDIDATE=/nope":          "CANDIDATE=/nope: no such file or directory" + program,
		"BASELINE=/nope":           "BASELINE=/nope: no such file or directory" + program,
		"CANDIDATE=" + root:        "CANDIDATE=" + root + ": not an executable file" + program,
		"CANDIDATE=" + plain:       "CANDIDATE=" + plain + ": not an executable file" + program,
		"CANDIDATE=/dev/null":      "CANDIDATE=/dev/null: not an executable file" + program,
		"CANDIDATE=./xray":         "CANDIDATE=./xray: no such engine" + forms,
		"BASELINE=monday":          "BASELINE=monday: no such engine" + forms,
		"CANDIDATE=xry:/bin/sh":    "CANDIDATE=xry:/bin/sh: no such engine" + forms,
		"CANDIDATE=xray:bin/xray":  "CANDIDATE=xray:bin/xray: not an absolute path" + program,
		"CANDIDATE=xray:":          "CANDIDATE=xray:: not an absolute path" + program,
		"CANDIDATE=xray:/nope":     "CANDIDATE=xray:/nope: no such file or directory" + program,
		"CANDIDATE=nope.toml":      "CANDIDATE=nope.toml: no such file or directory; a relative path begins at " + root,
		"CANDIDATE_ENGINE=xray":    "CANDIDATE_ENGINE is gone: give CANDIDATE=FILE.toml, a file with the key engine (docs/reference/protocols.md#naming-a-candidate)",
		"BASELINE_FILTER=/bin/cat": "BASELINE_FILTER is gone: give BASELINE=FILE.toml, a file with the key filter (docs/reference/protocols.md#naming-a-candidate)",
	} {
		if _, err := Read(root, given(pair)); err == nil || err.Error() != says {
			t.Errorf("%s: %v\nwant %s", pair, err, says)
		}
	}
	for text, says := range map[string]string{
		"args = [\"a\",\nenv = 1":                    "line 2, column 1: bad TOML: ",
		"argz = []":                                  "argz: unknown key; known here: args, client, engine, env, filter, program, server; did you mean args?",
		"args = \"-d\"":                              "args: is a string, must be an array",
		"args = [\"-d\", \"a b\"]":                   "args[1]: \"a b\" does not match ^\\S+$ (Give one word without white space)",
		"env = { A = 1 }":                            "env.A: is a number, must be a string",
		"env = { A = \"1 2\" }":                      "env.A: \"1 2\" does not match ^\\S*$ (Give a value without white space)",
		"env = { A-B = \"1\" }":                      "env.A-B: the name does not match ",
		"program = \"bin/x\"":                        "program: \"bin/x\" does not match ^/ (Give an absolute path)",
		"program = \"/nope\"":                        "program: /nope: no such file or directory" + program,
		"filter = \"/nope\"":                         "filter: /nope: no such file or directory" + program,
		"engine = \"v2ray\"":                         "engine: v2ray: no such engine; there are: fork, hysteria,",
		"engine = 'v2ray'\nprogram = '/bin/sh'":      "engine: v2ray: no such engine; there are: fork, hysteria,",
		"engine = 'xray'\nclient = 'mihomo:/bin/sh'": "client: mihomo:/bin/sh: its engine is not the one of the key engine, xray: leave one of them out",
		"client = \"v2ray\"":                         "client: v2ray: no such engine" + forms,
		"server = \"/nope\"":                         "server: /nope: no such file or directory" + program,
		"program='/bin/sh'\nserver='fork'":           "client and server: one program for each end is a candidate's without a program for both: leave them out",
	} {
		root := written(t, map[string]string{"side.toml": text})
		if _, err := Read(root, given("CANDIDATE=side.toml")); err == nil || !strings.HasPrefix(err.Error(), "CANDIDATE=side.toml: "+says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %s", text, err, says)
		}
	}
	root = written(t, map[string]string{"side.toml": "server = \"fork\""})
	if _, err := Read(root, given("BASELINE=side.toml")); err == nil || !strings.HasPrefix(err.Error(), "BASELINE=side.toml: client and server: ") {
		t.Error(err)
	}
	if _, err := Read(root, given("CANDIDATE_ENGINE= CANDIDATE_FAULT=x")); err != nil {
		t.Error(err)
	}
}

func TestAKeptBaselineIsNoProgram(t *testing.T) {
	root := written(t, map[string]string{"side.toml": ""})
	if err := os.MkdirAll(filepath.Join(root, "results/baselines/mihomo"), 0o755); err != nil {
		t.Fatal(err)
	}
	kept := []string{"monday", "mihomo", root}
	for _, value := range append(kept, "", "xray", "fork", "xray:/bin/sh", "side.toml", root+"/side.toml", "/bin/sh", "/nope") {
		if IsKept(root, value) != slices.Contains(kept, value) {
			t.Error(value)
		}
	}
}

func TestAnotherProgramIsStartedTheSameWay(t *testing.T) {
	root := written(t, nil)
	for values, want := range map[string]string{
		"":                    "/new",
		"/bin/sh":             "/new",
		"monday xray":         "xray:/new",
		"/old xray:/old fork": "xray:/new",
		"a.toml xray":         "a.toml:/new",
		"/a.toml:/old":        "/a.toml:/new",
	} {
		if got := With(root, "/new", strings.Fields(values)...); got != want {
			t.Errorf("%s: %s", values, got)
		}
	}
}
