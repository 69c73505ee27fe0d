// SPDX-License-Identifier: AGPL-3.0-only

// Package builds builds the two sides of a comparison, base and head, with one command. The sides are two checkouts or
// two revisions of a repository.
package builds

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/testbed"
)

// Asked says what to build. Made has exactly one path in each checkout, by the variable of the testbed that takes the
// path (binary, source, wheel).
type Asked struct {
	Root       string // our checkout
	Repository string // "" if Base and Head are folders, not revisions
	Base, Head string
	Command    string // for sh -c; "" builds nothing
	Made       map[string]string
	Testbed    string // NAME or NAME:VARIABLE=VALUE,…
}

// Build describes one built side.
type Build struct {
	Name string `json:"name" jsonschema:"enum=base,enum=head"`
	// The revision as given; for a checkout, the name of its folder.
	Ref string `json:"ref"`
	// Empty if git does not know.
	Commit string `json:"commit"`
	// Files differed from the commit before the build; null if git does not know.
	Changed *bool `json:"changed"`
	// Why git does not know the commit of a folder, or whether its files differ from the commit.
	Unread string `json:"unread,omitempty"`
}

// String returns text such as `head (my-branch, 0123456789)`.
func (b Build) String() string {
	parts := []string{b.Ref}
	if b.Commit != "" && b.Commit != b.Ref {
		parts = append(parts, b.Commit[:10])
	}
	switch {
	case b.Commit == "":
		parts = append(parts, "commit unknown")
	case b.Changed == nil:
		parts = append(parts, "perhaps changed")
	case *b.Changed:
		parts = append(parts, "changed")
	}
	return fmt.Sprintf("%s (%s)", b.Name, strings.Join(parts, ", "))
}

// Given reports whether a base or a head is given.
func (a Asked) Given() bool { return a.Base != "" || a.Head != "" || a.Repository != "" }

// Pair is a base and a head to build, in this order.
type Pair struct {
	asked  Asked
	ref    environment.TestbedRef
	takes  string // variable of the testbed
	path   string // path of the built program in each checkout
	sides  [2]side
	folder string // folder of the worktrees, "" without worktrees
	built  [2]string
}

type side struct {
	Build
	dir string
}

// Check reports what is wrong with the request, before anything is built.
func Check(a Asked) (*Pair, *exit.Fault) {
	p := &Pair{asked: a}
	given := maps.Clone(a.Made)
	maps.DeleteFunc(given, func(_, path string) bool { return path == "" })
	names := slices.Sorted(maps.Keys(given))
	switch {
	case a.Base == "" || a.Head == "":
		return nil, exit.BadUsage("give both BASE and HEAD (--base, --head)")
	case a.Testbed == "":
		return nil, exit.BadUsage("TESTBED (--testbed) is not set: name the testbed that starts the builds")
	case len(names) != 1:
		return nil, exit.BadUsage("give one of BINARY, SOURCE and WHEEL (--binary, --source, --wheel): the part of each checkout that the testbed runs")
	}
	p.takes, p.path = names[0], given[names[0]]
	if !filepath.IsLocal(p.path) {
		return nil, exit.BadUsage("%s=%s: give a path in the checkouts", strings.ToUpper(p.takes), p.path)
	}
	ref, bed, err := check.TestbedSpec(a.Root, a.Testbed)
	if err != nil {
		return nil, exit.BadUsage("%v", err)
	}
	p.ref = ref
	if f := p.checkVariable(bed); f != nil {
		return nil, f
	}
	p.sides = [2]side{{Build: Build{Name: "base", Ref: a.Base}}, {Build: Build{Name: "head", Ref: a.Head}}}
	for i := range p.sides {
		if f := p.find(&p.sides[i]); f != nil {
			return nil, f
		}
	}
	return p, nil
}

func (p *Pair) checkVariable(bed testbed.Testbed) *exit.Fault {
	if declared, ok := bed.Variables[p.takes]; !ok || declared.Type != "path" {
		return exit.BadUsage("testbeds/%s.toml has no variable %s that takes a path; it has: %s", p.ref.Name, p.takes, strings.Join(bed.Names(), ", "))
	}
	if _, ok := p.ref.Variables[p.takes]; ok {
		return exit.BadUsage("TESTBED=%s gives %s, which is what the builds make: leave it out", p.asked.Testbed, p.takes)
	}
	return nil
}

// find resolves a side's folder, or the commit of its revision.
func (p *Pair) find(s *side) *exit.Fault {
	variable := strings.ToUpper(s.Name)
	if p.asked.Repository != "" {
		if _, err := git(p.asked.Repository, "rev-parse", "--git-dir"); err != nil {
			return exit.BadUsage("REPOSITORY=%s: %v", p.asked.Repository, err)
		}
		commit, err := git(p.asked.Repository, "rev-parse", "--verify", "--quiet", "--end-of-options", s.Ref+"^{commit}")
		if err != nil {
			return exit.BadUsage("%s=%s: %s has no such revision; fetch it, or give another branch, tag or commit", variable, s.Ref, p.asked.Repository)
		}
		unchanged := false // a worktree has exactly the files of the commit
		s.Commit, s.Changed = commit, &unchanged
		return nil
	}
	if !filepath.IsAbs(s.Ref) {
		return exit.BadUsage("%s=%s: give the absolute path of a checkout, or REPOSITORY with a revision of it", variable, s.Ref)
	}
	if info, err := os.Stat(s.Ref); err != nil || !info.IsDir() {
		return exit.BadUsage("%s=%s: there is no such folder", variable, s.Ref)
	}
	s.dir, s.Ref = s.Ref, filepath.Base(s.Ref)
	s.look()
	return nil
}

// look reads the commit of a folder, and whether its files differ from the commit.
func (s *side) look() {
	var err error
	if s.Commit, err = git(s.dir, "rev-parse", "--verify", "HEAD"); err != nil {
		s.Unread = err.Error()
		return
	}
	status, err := git(s.dir, "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		s.Unread = err.Error()
		return
	}
	changed := status != ""
	s.Changed = &changed
}

// Make builds base and then head, and writes a log of each to the folder logs. say reports each build. environ is the
// environment of the builds. Make returns the testbeds in the form of TESTBED.
func (p *Pair) Make(ctx context.Context, environ []string, logs string, say func(format string, args ...any)) (specs [2]string, f *exit.Fault) {
	if f := p.checkOut(ctx); f != nil {
		return specs, f
	}
	for i := range p.sides {
		s := &p.sides[i]
		if s.Unread != "" {
			say("the commit of %s, and whether its files are changed, is unknown: %s", s.Name, s.Unread)
		}
		if f := p.build(ctx, *s, environ, filepath.Join(logs, "build-"+s.Name+".log"), say); f != nil {
			return specs, f
		}
		program, f := p.builtPath(*s)
		if f != nil {
			return specs, f
		}
		p.built[i], specs[i] = program, p.spec(program)
	}
	return specs, nil
}

func (p *Pair) builtPath(s side) (string, *exit.Fault) {
	pattern := filepath.Join(s.dir, p.path)
	paths := []string{pattern}
	if p.takes == "wheel" {
		if paths, _ = filepath.Glob(pattern); len(paths) != 1 {
			return "", exit.BadSetup("the build of %s has left %d wheels %s, but one is needed: name it with WHEEL, or make BUILD remove the others", s.Build, len(paths), p.path)
		}
	}
	info, err := os.Stat(paths[0])
	switch {
	case err != nil:
		return "", exit.BadSetup("the build of %s has made no %s (%s)", s.Build, p.path, exit.Reason(err))
	case p.takes == "source" && !info.IsDir():
		return "", exit.BadSetup("the %s of %s is no folder", p.path, s.Build)
	case p.takes != "source" && !info.Mode().IsRegular():
		return "", exit.BadSetup("the %s of %s is no file", p.path, s.Build)
	case p.takes == "binary" && info.Mode()&0o111 == 0:
		return "", exit.BadSetup("the %s of %s is not executable", p.path, s.Build)
	}
	return paths[0], nil
}

// spec returns the testbed with the built program.
func (p *Pair) spec(program string) string {
	name, values, given := strings.Cut(p.asked.Testbed, ":")
	spec := name + ":" + p.takes + "=" + program
	if given && values != "" {
		spec += "," + values
	}
	return spec
}

// Same names the commit or folder if base and head are the same one, "" if they differ.
func (p *Pair) Same() string {
	base, head := p.sides[0], p.sides[1]
	switch {
	case p.asked.Repository != "" && base.Commit == head.Commit:
		return "commit " + base.Commit[:10]
	case p.asked.Repository == "" && resolved(base.dir) == resolved(head.dir):
		return base.dir
	}
	return ""
}

func resolved(dir string) string {
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		return path
	}
	return dir
}

// Paths are the paths of the built programs, of base and head.
func (p *Pair) Paths() [2]string { return p.built }

// Builds describes both sides.
func (p *Pair) Builds() [2]Build { return [2]Build{p.sides[0].Build, p.sides[1].Build} }
