// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"slices"
	"sort"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// blockSamples are those of a block at most.
const blockSamples = 4096

// block is a run of sorted samples.
type block struct {
	first, last   int64
	before, count int64
	// Of a file: where it is, and how many bytes.
	at   int64
	size int
}

// ordered are samples of one series in ascending order, in blocks of which few need to be looked into.
type ordered struct {
	blocks []block
	count  int64
	sum    sum
	// rough: they were in a histogram, and are within Error of what was measured.
	rough bool
	// load has the samples of a block; nil where each block has one value only.
	load func(of block) ([]int64, error)
}

func (o *ordered) append(b block) {
	b.before = o.count
	o.count += b.count
	o.blocks = append(o.blocks, b)
}

// ofSorted are samples in memory.
func ofSorted(all []int64) *ordered {
	o := &ordered{load: func(b block) ([]int64, error) { return all[b.before : b.before+b.count], nil }}
	for some := range slices.Chunk(all, blockSamples) {
		o.append(block{first: some[0], last: some[len(some)-1], count: int64(len(some))})
		for _, value := range some {
			o.sum.add(value)
		}
	}
	return o
}

// ofHistogram has each sample in the middle of what its bucket holds, and none beyond the smallest and the largest.
func ofHistogram(h *hdrhistogram.Histogram, total sum, least, most int64) *ordered {
	o := &ordered{sum: total, rough: true}
	for _, bar := range h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		middle := min(max(bar.From+(bar.To-bar.From)/2, least), most)
		o.append(block{first: middle, last: middle, count: bar.Count})
	}
	// They are exact, whatever their buckets hold.
	o.split(0, least)
	o.split(len(o.blocks)-1, most)
	return o
}

// split gives one sample of the block at a place a value of its own: the first of the first block, the last of the last one.
func (o *ordered) split(place int, value int64) {
	if o.blocks[place].first == value {
		return
	}
	all := slices.Clone(o.blocks)
	all[place].count--
	extreme := block{first: value, last: value, count: 1}
	at := place + 1
	if place == 0 && value < all[0].first {
		at = 0
	}
	all = slices.Insert(all, at, extreme)
	o.blocks, o.count = nil, 0
	for _, b := range all {
		if b.count > 0 {
			o.append(b)
		}
	}
}

func (o *ordered) least() int64 { return o.blocks[0].first }

func (o *ordered) most() int64 { return o.blocks[len(o.blocks)-1].last }

// holding is the last block that begins at a value or below it; false where all are above.
func (o *ordered) holding(value int64) (block, bool) {
	n := sort.Search(len(o.blocks), func(i int) bool { return o.blocks[i].first > value })
	if n == 0 {
		return block{}, false
	}
	return o.blocks[n-1], true
}

// bounds are how many samples are at a value or below it: at least and at most, as far as the blocks tell.
func (o *ordered) bounds(value int64) (least, most int64) {
	b, ok := o.holding(value)
	switch {
	case !ok:
		return 0, 0
	case b.last <= value:
		return b.before + b.count, b.before + b.count
	}
	return b.before + 1, b.before + b.count - 1
}

// atMost is how many samples are at a value or below it.
func (o *ordered) atMost(value int64) (int64, error) {
	least, most := o.bounds(value)
	if least == most {
		return least, nil
	}
	b, _ := o.holding(value)
	inside, err := o.load(b)
	n := sort.Search(len(inside), func(i int) bool { return inside[i] > value })
	return b.before + int64(n), err
}

// between are the samples above one value and below another, where no block begins or ends between the two.
func (o *ordered) between(low, high int64) ([]int64, error) {
	b, ok := o.holding(low)
	if !ok || b.last <= low {
		return nil, nil
	}
	inside, err := o.load(b)
	from := sort.Search(len(inside), func(i int) bool { return inside[i] > low })
	to := sort.Search(len(inside), func(i int) bool { return inside[i] >= high })
	return inside[from:to], err
}
