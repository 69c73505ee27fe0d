// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"math"
	"slices"
	"sort"
)

// ranked presents the samples of many sources as one ascending list, without merging them. It finds a rank by the ends
// of the blocks, and then reads only the blocks that contain the rank, at most one of each source.
type ranked struct {
	sources []*ordered
	// ends are the distinct first and last values of all blocks, in order.
	ends  []int64
	count int64
}

func rankedOf(sources []*ordered) *ranked {
	r := &ranked{sources: sources}
	for _, source := range sources {
		r.count += source.count
		for _, b := range source.blocks {
			r.ends = append(r.ends, b.first, b.last)
		}
	}
	slices.Sort(r.ends)
	r.ends = slices.Compact(r.ends)
	return r
}

// at is the sample with a rank, counted from 0.
func (r *ranked) at(rank int64) (int64, error) {
	var failed error
	n := sort.Search(len(r.ends), func(i int) bool {
		more, err := r.moreThan(rank, r.ends[i])
		if err != nil {
			failed = err
		}
		return more
	})
	if failed != nil || n == 0 {
		return r.ends[0], failed
	}
	// The sample is above low, and at most high.
	low, high := r.ends[n-1], r.ends[n]
	var inside []int64
	for _, source := range r.sources {
		below, err := source.atMost(low)
		if err != nil {
			return 0, err
		}
		some, err := source.between(low, high)
		if err != nil {
			return 0, err
		}
		rank -= below
		inside = append(inside, some...)
	}
	if rank >= int64(len(inside)) {
		return high, nil
	}
	slices.Sort(inside)
	return inside[rank], nil
}

// moreThan reports whether more than count samples are at or below value.
func (r *ranked) moreThan(count, value int64) (bool, error) {
	var least, most int64
	for _, source := range r.sources {
		some, all := source.bounds(value)
		least, most = least+some, most+all
	}
	if least > count || most <= count {
		return least > count, nil
	}
	var exact int64
	for _, source := range r.sources {
		some, err := source.atMost(value)
		if err != nil {
			return false, err
		}
		exact += some
	}
	return exact > count, nil
}

// percentile interpolates between the two nearest ranks, like k6's TrendSink.
func (r *ranked) percentile(share float64) (float64, error) {
	rank := share * (float64(r.count) - 1)
	low, err := r.at(int64(math.Floor(rank)))
	if err != nil {
		return 0, err
	}
	high, err := r.at(int64(math.Ceil(rank)))
	below, above := inUnits(low), inUnits(high)
	return below + (above-below)*(rank-math.Floor(rank)), err
}
