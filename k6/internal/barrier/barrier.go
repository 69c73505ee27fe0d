// SPDX-License-Identifier: AGPL-3.0-only

// Package barrier lets two runs wait for each other at points of their course, such as the start of their loads. A run arrives at a
// point by a file of that name in a folder that both share.
package barrier

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Variable of a run has its side (0 or 1) and the folder of the barrier: SIDE@FOLDER.
const Variable = "BARRIER"

// lookEvery is far below the duration of a load.
const lookEvery = time.Millisecond

const (
	// gone is the point of a run that has ended. It holds back no other run.
	gone = "gone"
	// alone is the point of a run that met nobody at another point.
	alone = "alone"
)

// Barrier is where the runs of both sides meet.
type Barrier struct{ folder string }

// New makes the folder of a barrier. Close removes it.
func New() (Barrier, error) {
	folder, err := os.MkdirTemp("", "windtunnel-barrier-")
	return Barrier{folder}, err
}

// Value returns the value of Variable for a side.
func (b Barrier) Value(side int) string { return fmt.Sprintf("%d@%s", side, b.folder) }

// Gone says that a side's run has ended, or could not begin: the other one waits no longer. If the folder cannot be written, it removes
// the folder, which has the same effect.
func (b Barrier) Gone(side int) {
	if (Member{side, b.folder}).arrive(gone) != nil {
		b.Close()
	}
}

// Close removes the folder.
func (b Barrier) Close() { _ = os.RemoveAll(b.folder) }

// Member is the run of a side.
type Member struct {
	side   int
	folder string
}

// Join reads the value of Variable.
func Join(value string) (Member, error) {
	side, folder, ok := strings.Cut(value, "@")
	if !ok || side != "0" && side != "1" || folder == "" {
		return Member{}, fmt.Errorf("%s=%s: SIDE@FOLDER is needed, and SIDE is 0 or 1", Variable, value)
	}
	return Member{int(side[0] - '0'), folder}, nil
}

func (m Member) file(side int, point string) string {
	return filepath.Join(m.folder, fmt.Sprintf("%s-%d", point, side))
}

func (m Member) arrive(point string) error { return os.WriteFile(m.file(m.side, point), nil, 0o600) }

// Meet returns when the other run has arrived at the point, too. It reports whether both are there: the other run may have ended, and
// ctx may end.
func (m Member) Meet(ctx context.Context, point string) (bool, error) {
	if err := m.arrive(point); err != nil {
		return false, fmt.Errorf("the comparison that runs both sides at once has ended: %w", err)
	}
	looks := time.NewTicker(lookEvery)
	defer looks.Stop()
	for {
		if exists(m.file(1-m.side, point)) {
			return true, nil
		}
		if exists(m.file(1-m.side, gone)) || !exists(m.folder) {
			_ = m.arrive(alone)
			return false, nil
		}
		select {
		case <-looks.C:
		case <-ctx.Done():
			return false, nil
		}
	}
}

// WasAlone reports whether a run with this value of Variable met nobody at a point, because the other run had ended.
func WasAlone(value string) bool {
	m, err := Join(value)
	return err == nil && exists(m.file(m.side, alone))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
