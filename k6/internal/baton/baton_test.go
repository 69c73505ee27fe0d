// SPDX-License-Identifier: AGPL-3.0-only

package baton

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// soon is long enough to see that something does not happen.
const soon = 50 * time.Millisecond

func keep(t *testing.T, first int) *Keeper {
	keeper, err := Keep(first)
	require.NoError(t, err)
	t.Cleanup(keeper.Close)
	return keeper
}

func join(t *testing.T, k *Keeper, side int) *Holder {
	h, err := Join(k.Of(side))
	require.NoError(t, err)
	return h
}

// waits reports whether the turn of a run has not come.
func waits(h *Holder) bool {
	ctx, stop := context.WithTimeout(context.Background(), soon)
	defer stop()
	h.Wait(ctx)
	return ctx.Err() != nil
}

func TestLoadsFollowEachOther(t *testing.T) {
	t.Parallel()
	for first := range 2 {
		k := keep(t, first)
		var working, most, order atomic.Int32
		var began [2]int32
		var both sync.WaitGroup
		for side := range 2 {
			both.Go(func() {
				h := join(t, k, side)
				h.Wait(context.Background())
				began[side] = order.Add(1)
				most.Store(max(most.Load(), working.Add(1)))
				time.Sleep(soon)
				working.Add(-1)
				h.End(context.Background())
				if order.Load() != 2 || working.Load() != 0 {
					t.Error("the clean-up disturbs the other load")
				}
			})
		}
		both.Wait()
		require.Equal(t, int32(1), most.Load())
		require.Less(t, began[first], began[1-first])
	}
}

func TestNoLoadBeginsBeforeBothAreReady(t *testing.T) {
	t.Parallel()
	k := keep(t, 0)
	a := join(t, k, 0)
	require.True(t, waits(a))
	b := join(t, k, 1)
	require.False(t, waits(a))
	require.True(t, waits(b))
}

func TestARunGoesOnWithoutTheOther(t *testing.T) {
	t.Parallel()
	k := keep(t, 0)
	b := join(t, k, 1)
	k.Gone(0) // its set-up failed
	b.Wait(context.Background())
	b.End(context.Background())

	k = keep(t, 0)
	a, b := join(t, k, 0), join(t, k, 1)
	a.Wait(context.Background())
	_ = a.keeper.Close() // its process was killed
	b.Wait(context.Background())
	b.End(context.Background())
}

func TestARunGoesOnWithoutItsKeeper(t *testing.T) {
	t.Parallel()
	k := keep(t, 1)
	a, b := join(t, k, 0), join(t, k, 1)
	b.Wait(context.Background())
	k.Close()
	a.Wait(context.Background())
	a.End(context.Background())
	b.End(context.Background())
	require.NoDirExists(t, filepath.Dir(k.listener.Addr().String()))
}

func TestAWrongVariable(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"2@" + os.TempDir(), "0", "0@" + t.TempDir() + "/none"} {
		_, err := Join(value)
		require.Error(t, err, value)
	}
}
