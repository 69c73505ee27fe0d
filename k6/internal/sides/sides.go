// SPDX-License-Identifier: AGPL-3.0-only

// Package sides reads which programs a protocol comparison measures: the variables BASELINE and CANDIDATE, and their files.
package sides

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/protocolrows"
	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/schema"
)

// The variables that name the sides.
const Baseline, Candidate = "BASELINE", "CANDIDATE"

// Sides are the two sides; Candidate is nil if nothing is compared. Engines are those whose own program a side runs.
type Sides struct {
	Baseline  Side     `json:"baseline"`
	Candidate *Side    `json:"candidate"`
	Engines   []string `json:"-"`
}

// Side is the program of both ends, or only of the client if Server is given. Settings are a run's parameters about how it is started.
type Side struct {
	Name string `json:"name"`
	Program
	Server   *Program          `json:"server,omitempty"`
	Settings map[string]string `json:"settings"`
}

// Program has the testbed's variables: the engine of its configuration, its path ("" is our own build), and how it is started.
type Program struct {
	Engine string `json:"engine"`
	Binary string `json:"binary"`
	Args   string `json:"args"`
	Env    string `json:"env"`
	Filter string `json:"filter"`
}

// file has the keys of schemas/protocol-side.schema.json.
type file struct {
	Engine, Program, Client, Server, Filter string
	Args                                    []string
	Env                                     map[string]string
}

// Read returns the sides of a caller's variables. The error is one line with the variable, the key of its file, and the remedy.
func Read(checkout string, getenv func(string) string) (s Sides, err error) {
	for _, side := range []string{Baseline, Candidate} {
		for _, key := range []string{"args", "client", "engine", "env", "filter", "server"} {
			if old := side + "_" + strings.ToUpper(key); getenv(old) != "" {
				return s, fmt.Errorf("%s is gone: give %s=FILE.toml, a file with the key %s (docs/reference/protocols.md#naming-a-candidate)", old, side, key)
			}
		}
	}
	engines, err := protocolrows.Engines(filepath.Join(checkout, "testbeds/protocols"))
	if err != nil {
		return s, fmt.Errorf("testbeds/protocols: %w", err)
	}
	r := reader{root: filepath.Clean(checkout), engines: engines}
	s.Baseline = r.side(Baseline, getenv(Baseline), Program{Engine: "sing-box"})
	if value := getenv(Candidate); value != "" && r.err == nil {
		candidate := r.side(Candidate, value, s.Baseline.Program)
		s.Candidate = &candidate
	}
	s.Engines = r.own
	return s, r.err
}

// reader keeps the first error.
type reader struct {
	root    string
	engines map[string]protocolrows.Engine
	own     []string
	err     error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// side reads the value of a variable. A file may leave out an end, which is then the baseline's.
func (r *reader) side(variable, value string, baseline Program) Side {
	f := r.read(value)
	if _, known := r.engines[f.Engine]; f.Engine != "" && !known {
		r.fail("engine: %s: no such engine; there are: %s", f.Engine, r.names())
	}
	own := Program{Engine: cmp.Or(f.Engine, baseline.Engine), Args: strings.Join(f.Args, " "), Filter: f.Filter}
	for _, name := range slices.Sorted(maps.Keys(f.Env)) {
		own.Env = strings.TrimPrefix(own.Env+" "+name+"="+f.Env[name], " ")
	}
	s := Side{Name: strings.ToLower(variable), Program: baseline, Settings: map[string]string{}}
	for key, setting := range map[string]string{"args": own.Args, "env": own.Env, "filter": own.Filter} {
		if setting != "" {
			s.Settings[s.Name+"_"+key] = setting
		}
	}
	if f.Filter != "" {
		r.mustRun("filter", f.Filter, f.Filter)
	}
	switch {
	case f.Client+f.Server == "":
		s.Program = r.program("program", f.Program, f.Engine, own)
	case f.Program != "" || variable == Baseline:
		r.fail("client and server: one program for each end is a candidate's without a program for both: leave them out")
	default:
		s.Server = &baseline
		var ends []string
		if f.Client != "" {
			s.Program = r.program("client", f.Client, f.Engine, own)
			ends = append(ends, s.Engine+" as client")
		}
		if f.Server != "" {
			*s.Server = r.program("server", f.Server, f.Engine, own)
			ends = append(ends, s.Server.Engine+" as server")
		}
		s.Settings["candidate_engine"] = strings.Join(ends, ", ")
	}
	if variable == Candidate && s.Server == nil {
		s.Settings["candidate_engine"] = s.Engine
	}
	if r.err != nil {
		r.err = fmt.Errorf("%s=%s: %s", variable, value, strings.TrimPrefix(r.err.Error(), "program: "+value+": "))
	}
	return s
}

// read returns what a value says as a file does.
func (r *reader) read(value string) (f file) {
	name, program := cut(value)
	if !isFile(name) {
		return file{Program: value}
	}
	doc, err := document.Read(root.Absolute(name, r.root))
	switch problems := schema.Check(schema.ProtocolSide, doc); {
	case errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(name):
		r.fail("%w; a relative path begins at %s", err, r.root)
	case err != nil:
		r.fail("%w", err)
	case len(problems) > 0:
		r.fail("%s", problems[0])
	default:
		r.err = document.Into(doc, &f)
	}
	f.Program = cmp.Or(program, f.Program)
	return f
}

// program adds engine and path to own. The value of a key is a path, an engine, ENGINE:/absolute/path, or "" for the engine of own.
func (r *reader) program(key, value, fileEngine string, own Program) Program {
	engine, path, hasPath := own.Engine, value, true
	if !filepath.IsAbs(value) {
		engine, path, hasPath = strings.Cut(cmp.Or(value, engine), ":")
	}
	its, known := r.engines[engine]
	own.Engine, own.Binary = its.Parts.Reads, path
	switch {
	case !known:
		r.fail("%s: %s: no such engine; give the absolute path of a program, an engine (%s), ENGINE:/absolute/path, or a FILE.toml",
			key, cmp.Or(value, engine), r.names())
	case fileEngine != "" && engine != fileEngine:
		r.fail("%s: %s: its engine is not the one of the key engine, %s: leave one of them out", key, value, fileEngine)
	case hasPath:
		r.mustRun(key, value, path)
	case engine != own.Engine: // make need not build it as bin/ENGINE
		own.Binary = strings.NewReplacer("{{ root }}", r.root, "{{root}}", r.root).Replace(its.Parts.Program)
		fallthrough
	default:
		r.own = append(r.own, engine)
	}
	return own
}

func (r *reader) names() string { return strings.Join(slices.Sorted(maps.Keys(r.engines)), ", ") }

// mustRun rejects a path that is no program.
func (r *reader) mustRun(key, value, path string) {
	info, err := os.Stat(path)
	why := "not an executable file"
	switch {
	case !filepath.IsAbs(path):
		why = "not an absolute path"
	case err != nil:
		why = exit.Reason(err).Error()
	case info.Mode().IsRegular() && info.Mode()&0o111 != 0:
		return
	}
	r.fail("%s: %s: %s; give the absolute path of a program", key, value, why)
}

// cut returns the parts of NAME:/absolute/path.
func cut(value string) (name, program string) {
	if at := strings.LastIndex(value, ":/"); at > 0 {
		return value[:at], value[at+1:]
	}
	return value, ""
}

func isFile(name string) bool { return filepath.Ext(name) == ".toml" }

// IsKept reports whether a value of BASELINE is the name or the absolute path of a kept baseline, and no program.
func IsKept(checkout, value string) bool {
	if name, program := cut(value); value == "" || program != "" || isFile(name) {
		return false
	}
	_, unknown := os.Stat(filepath.Join(checkout, "testbeds/protocols/engines", value+".toml"))
	info, err := os.Stat(root.Absolute(value, filepath.Join(checkout, "results/baselines")))
	return err == nil && info.IsDir() || !filepath.IsAbs(value) && unknown != nil
}

// Hint says which engine a name probably means, "" without any.
func Hint(checkout, name string) string {
	engines, _ := protocolrows.Engines(filepath.Join(checkout, "testbeds/protocols"))
	if meant := closest.Match(name, slices.Sorted(maps.Keys(engines))); meant != "" {
		return "; or did you mean the engine " + meant + "?"
	}
	return ""
}

// With is the value for another program that is started as the first of values says that names an engine or a file.
func With(checkout, program string, values ...string) string {
	for _, value := range values {
		if name, _ := cut(value); isFile(name) || name != "" && !filepath.IsAbs(name) && !IsKept(checkout, name) {
			return name + ":" + program
		}
	}
	return program
}
