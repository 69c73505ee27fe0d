// SPDX-License-Identifier: AGPL-3.0-only

// Package builds makes the two sides of a comparison from a base and a head: two checkouts, or two revisions of a repository,
// each built by the same command.
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
	"windtunnel/k6/internal/fault"
	"windtunnel/k6/internal/testbed"
)

// Asked is what to build. Of Made, a path in each checkout by the variable of the testbed that takes it (binary, source, wheel),
// one is given.
type Asked struct {
	Root       string // our checkout
	Repository string // "" where Base and Head are folders, not revisions
	Base, Head string
	Command    string // for sh -c; "" builds nothing
	Made       map[string]string
	Testbed    string // NAME or NAME:VARIABLE=VALUE,…
}

// Build is a side that was built.
type Build struct {
	Name    string `json:"name"`    // base, head
	Ref     string `json:"ref"`     // as it was given; of a folder its name
	Commit  string `json:"commit"`  // "" where git cannot tell
	Changed *bool  `json:"changed"` // files differed from the commit before the build; nil where git cannot tell
	// Unread is why git can tell neither or not all of a folder, "" otherwise.
	Unread string `json:"unread,omitempty"`
}

// String is such as `head (my-branch, 0123456789)`.
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

// Given reports whether a base and a head are asked for.
func (a Asked) Given() bool { return a.Base != "" || a.Head != "" || a.Repository != "" }

// Pair is a base and a head, in this order, to be built.
type Pair struct {
	asked  Asked
	ref    environment.TestbedRef
	takes  string // the testbed's variable
	path   string // of what is built, in each checkout
	sides  [2]side
	folder string // of the worktrees, "" without
	built  [2]string
}

type side struct {
	Build
	dir string
}

// Check tells what is wrong with what is asked for, before anything is made.
func Check(a Asked) (*Pair, *fault.Fault) {
	p := &Pair{asked: a}
	given := maps.Clone(a.Made)
	maps.DeleteFunc(given, func(_, path string) bool { return path == "" })
	names := slices.Sorted(maps.Keys(given))
	switch {
	case a.Base == "" || a.Head == "":
		return nil, fault.Usage("give both BASE and HEAD (--base, --head)")
	case a.Testbed == "":
		return nil, fault.Usage("TESTBED (--testbed) is not set: name what starts the builds")
	case len(names) != 1:
		return nil, fault.Usage("give one of BINARY, SOURCE and WHEEL (--binary, --source, --wheel): what of each checkout the testbed runs")
	}
	p.takes, p.path = names[0], given[names[0]]
	if !filepath.IsLocal(p.path) {
		return nil, fault.Usage("%s=%s: give a path in the checkouts", strings.ToUpper(p.takes), p.path)
	}
	ref, bed, err := check.TestbedSpec(a.Root, a.Testbed)
	if err != nil {
		return nil, fault.Usage("%v", err)
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

func (p *Pair) checkVariable(bed testbed.Testbed) *fault.Fault {
	if declared, ok := bed.Variables[p.takes]; !ok || declared.Type != "path" {
		return fault.Usage("testbeds/%s.toml has no variable %s that takes a path; it has: %s", p.ref.Name, p.takes, strings.Join(bed.Names(), ", "))
	}
	if _, ok := p.ref.Variables[p.takes]; ok {
		return fault.Usage("TESTBED=%s gives %s, which is what the builds make: leave it out", p.asked.Testbed, p.takes)
	}
	return nil
}

// find takes a side's folder, or the commit of its revision.
func (p *Pair) find(s *side) *fault.Fault {
	variable := strings.ToUpper(s.Name)
	if p.asked.Repository != "" {
		if _, err := git(p.asked.Repository, "rev-parse", "--git-dir"); err != nil {
			return fault.Usage("REPOSITORY=%s: %v", p.asked.Repository, err)
		}
		commit, err := git(p.asked.Repository, "rev-parse", "--verify", "--quiet", "--end-of-options", s.Ref+"^{commit}")
		if err != nil {
			return fault.Usage("%s=%s: %s has no such revision; fetch it, or give another branch, tag or commit", variable, s.Ref, p.asked.Repository)
		}
		unchanged := false // a worktree of the commit
		s.Commit, s.Changed = commit, &unchanged
		return nil
	}
	if !filepath.IsAbs(s.Ref) {
		return fault.Usage("%s=%s: give the absolute path of a checkout, or REPOSITORY with a revision of it", variable, s.Ref)
	}
	if info, err := os.Stat(s.Ref); err != nil || !info.IsDir() {
		return fault.Usage("%s=%s: there is no such folder", variable, s.Ref)
	}
	s.dir, s.Ref = s.Ref, filepath.Base(s.Ref)
	s.look()
	return nil
}

// look takes the commit of a folder, and whether its files differ from the commit.
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

// Make builds base and then head, with a log of each in the folder logs; say is told of each. The environment is that of the
// builds. What it returns are testbeds as TESTBED takes them.
func (p *Pair) Make(ctx context.Context, environ []string, logs string, say func(format string, args ...any)) (specs [2]string, f *fault.Fault) {
	if f := p.checkOut(ctx); f != nil {
		return specs, f
	}
	for i := range p.sides {
		s := &p.sides[i]
		if s.Unread != "" {
			say("which commit %s is, and whether its files are changed, is not known: %s", s.Name, s.Unread)
		}
		if f := p.build(ctx, *s, environ, filepath.Join(logs, "build-"+s.Name+".log"), say); f != nil {
			return specs, f
		}
		made, f := p.made(*s)
		if f != nil {
			return specs, f
		}
		p.built[i], specs[i] = made, p.spec(made)
	}
	return specs, nil
}

// made is the path of what a build made.
func (p *Pair) made(s side) (string, *fault.Fault) {
	pattern := filepath.Join(s.dir, p.path)
	paths := []string{pattern}
	if p.takes == "wheel" {
		if paths, _ = filepath.Glob(pattern); len(paths) != 1 {
			return "", fault.Setup("the build of %s has left %d wheels %s, and one is wanted: name it by WHEEL, or let BUILD remove the others", s.Build, len(paths), p.path)
		}
	}
	info, err := os.Stat(paths[0])
	switch {
	case err != nil:
		return "", fault.Setup("the build of %s has made no %s (%s)", s.Build, p.path, fault.Reason(err))
	case p.takes == "source" && !info.IsDir():
		return "", fault.Setup("the %s of %s is no folder", p.path, s.Build)
	case p.takes != "source" && !info.Mode().IsRegular():
		return "", fault.Setup("the %s of %s is no file", p.path, s.Build)
	case p.takes == "binary" && info.Mode()&0o111 == 0:
		return "", fault.Setup("the %s of %s is not executable", p.path, s.Build)
	}
	return paths[0], nil
}

// spec is the testbed with what was made.
func (p *Pair) spec(made string) string {
	name, values, given := strings.Cut(p.asked.Testbed, ":")
	spec := name + ":" + p.takes + "=" + made
	if given && values != "" {
		spec += "," + values
	}
	return spec
}

// Same names the one commit or folder that both sides are, "" where they are two.
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

// Paths are those of what Make made, of base and head.
func (p *Pair) Paths() [2]string { return p.built }

// Builds are what the sides are.
func (p *Pair) Builds() [2]Build { return [2]Build{p.sides[0].Build, p.sides[1].Build} }
