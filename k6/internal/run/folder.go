// SPDX-License-Identifier: AGPL-3.0-only

package run

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"windtunnel/k6/internal/exit"
)

var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// ID is the caller's id. If the given id is empty, it is a new one: yyyymmdd-hhmmss-PROFILE-xxxx, in UTC.
func ID(given, profile string, now time.Time) (string, *exit.Fault) {
	if given == "" {
		var random [2]byte
		_, _ = rand.Read(random[:])
		return now.UTC().Format("20060102-150405-") + profile + "-" + hex.EncodeToString(random[:]), nil
	}
	if !idPattern.MatchString(given) || given == "latest" {
		return "", exit.BadUsage("run id %q: give letters, digits, dots, dashes and underscores", given)
	}
	return given, nil
}

// Logs is the folder of a run's logs.
func Logs(dir string) string { return filepath.Join(dir, "logs") }

// MakeFolder makes results/RUN with the folder of its logs.
func MakeFolder(dir string) *exit.Fault {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return exit.BadSetup("cannot make results/: %v", exit.Reason(err))
	}
	id := filepath.Base(dir)
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, os.ErrExist) {
		return exit.BadUsage("results/%s exists already; give another --run-id", id)
	}
	if err == nil {
		err = os.Mkdir(Logs(dir), 0o755)
	}
	if err != nil {
		return exit.BadSetup("cannot make results/%s: %v", id, exit.Reason(err))
	}
	return nil
}

// Begin makes the run's folder with its record, points results/latest at the folder, and returns the folder. there says
// that MakeFolder has made it already.
func (r Run) Begin(root string, there bool) (dir string, f *exit.Fault) {
	results := filepath.Join(root, "results")
	dir = filepath.Join(results, r.ID)
	if !there {
		if f := MakeFolder(dir); f != nil {
			return dir, f
		}
	}
	if err := r.Write(dir); err != nil {
		return dir, exit.BadSetup("cannot write results/%s/run.json: %v", r.ID, exit.Reason(err))
	}
	if err := replaceLink(filepath.Join(results, "latest"), r.ID); err != nil {
		return dir, exit.BadSetup("cannot link results/latest: %v", exit.Reason(err))
	}
	return dir, nil
}

// replaceLink atomically points a symbolic link at target; it does not touch a file that is no link.
func replaceLink(link, target string) error {
	if info, err := os.Lstat(link); err == nil && info.Mode()&os.ModeSymlink == 0 {
		return fmt.Errorf("%s is not a symbolic link; remove it", link)
	}
	tmp := link + "." + target
	if err := os.Symlink(target, tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, link); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	return nil
}
