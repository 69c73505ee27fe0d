// SPDX-License-Identifier: AGPL-3.0-only

package barrier

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// soon is long enough to see that something does not happen.
const soon = 50 * time.Millisecond

func pair(t *testing.T) (b Barrier, members [2]Member) {
	b, err := New()
	require.NoError(t, err)
	t.Cleanup(b.Close)
	for side := range members {
		members[side], err = Join(b.Value(side))
		require.NoError(t, err)
	}
	return b, members
}

// meeting is the answer of Meet, once it comes.
func meeting(m Member, point string) <-chan bool {
	met := make(chan bool, 1)
	go func() {
		both, err := m.Meet(context.Background(), point)
		met <- both && err == nil
	}()
	return met
}

func isOpen(met <-chan bool) bool {
	select {
	case <-met:
		return false
	case <-time.After(soon):
		return true
	}
}

func TestRunsWaitForEachOtherAtEachPoint(t *testing.T) {
	t.Parallel()
	_, members := pair(t)
	for _, point := range []string{"begin", "end"} {
		first := meeting(members[1], point)
		require.True(t, isOpen(first), "one run went on alone")
		require.True(t, <-meeting(members[0], point))
		require.True(t, <-first)
	}
}

func TestNobodyWaitsForARunThatHasEnded(t *testing.T) {
	t.Parallel()
	b, members := pair(t)
	waits := meeting(members[0], "begin")
	require.True(t, isOpen(waits))
	require.False(t, WasAlone(b.Value(0)))
	b.Gone(1)
	require.False(t, <-waits, "the other run is not there")
	require.True(t, WasAlone(b.Value(0)))
	require.False(t, WasAlone(b.Value(1)) || WasAlone(""))
}

func TestAnInterruptEndsTheWait(t *testing.T) {
	t.Parallel()
	_, members := pair(t)
	ctx, stop := context.WithTimeout(context.Background(), soon)
	defer stop()
	both, err := members[0].Meet(ctx, "begin")
	require.NoError(t, err)
	require.False(t, both)
}

func TestTheEndOfTheComparisonEndsTheWait(t *testing.T) {
	t.Parallel()
	b, members := pair(t)
	waits := meeting(members[0], "begin")
	require.True(t, isOpen(waits))
	b.Close()
	require.False(t, <-waits)
	_, err := members[1].Meet(context.Background(), "begin")
	require.ErrorContains(t, err, "has ended")
}

func TestMalformedVariable(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "0", "0@", "2@folder", "a@folder"} {
		_, err := Join(value)
		require.ErrorContains(t, err, "SIDE@FOLDER", value)
	}
}
