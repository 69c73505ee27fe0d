// SPDX-License-Identifier: AGPL-3.0-only

package builds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/exit"
)

// gitPatience bounds a git command that only reads a repository or writes a worktree.
const gitPatience = 5 * time.Minute

// checkOut gives each revision a worktree in a temporary folder.
func (p *Pair) checkOut(ctx context.Context) *exit.Fault {
	if p.asked.Repository == "" {
		return nil
	}
	var err error
	if p.folder, err = os.MkdirTemp("", "windtunnel-builds-"); err != nil {
		return exit.BadSetup("no folder can be made for the worktrees: %v", exit.Reason(err))
	}
	for i := range p.sides {
		s := &p.sides[i]
		s.dir = filepath.Join(p.folder, s.Name)
		if _, err := git(p.asked.Repository, "-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "--detach", s.dir, s.Commit); err != nil {
			return exit.BadSetup("%s cannot be checked out: %v", s.Build, err)
		}
		if ctx.Err() != nil {
			return interrupted()
		}
	}
	return nil
}

// Remove removes the worktrees and returns why that failed.
func (p *Pair) Remove() error {
	if p.folder == "" {
		return nil
	}
	var failed []error
	for _, s := range p.sides {
		if _, err := os.Stat(s.dir); s.dir != "" && err == nil {
			if _, err := git(p.asked.Repository, "worktree", "remove", "--force", s.dir); err != nil {
				failed = append(failed, fmt.Errorf("the worktree of %s was not removed: %w", s.Name, err))
			}
		}
	}
	if err := removeAll(p.folder); err != nil {
		failed = append(failed, fmt.Errorf("%s was not removed: %w", p.folder, exit.Reason(err)))
	}
	_, _ = git(p.asked.Repository, "worktree", "prune")
	return errors.Join(failed...)
}

// removeAll is like os.RemoveAll, but also removes folders that a build has made read-only.
func removeAll(folder string) error {
	if os.RemoveAll(folder) == nil {
		return nil
	}
	_ = filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(folder)
}

// git runs git in a folder and returns its output. The error has git's reason and the command that git suggests.
func git(folder string, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", folder}, arguments...)...)
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err == nil {
		return strings.TrimSpace(stdout.String()), nil
	}
	if said := gitReason(stderr.String()); said != "" {
		return "", errors.New(said)
	}
	return "", fmt.Errorf("git: %w", err)
}

// gitReason returns the first fatal line of git's error output, or the last line without a fatal line. After a fatal
// line git may suggest a command, indented by a tab.
func gitReason(stderr string) string {
	lines := strings.Split(stderr, "\n")
	fatal := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "fatal: ") })
	if fatal < 0 {
		return lastLine(stderr)
	}
	reason := strings.TrimPrefix(lines[fatal], "fatal: ")
	for _, line := range lines[fatal+1:] {
		if command, ok := strings.CutPrefix(line, "\tgit "); ok {
			return reason + "; git " + command
		}
	}
	return reason
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
