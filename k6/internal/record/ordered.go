// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"slices"
	"sort"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const blockSamples = 4096

type block struct {
	first, last   int64
	before, count int64
	// For a block in a file: its offset and its size in bytes.
	at   int64
	size int
}

// ordered has the samples of one series in ascending order, in blocks. A query reads only a few of the blocks.
type ordered struct {
	blocks []block
	count  int64
	sum    sum
	// rough says that the samples come from a histogram, and are within Error of the measured values.
	rough bool
	// load reads the samples of a block; nil if each block has a single value.
	load func(of block) ([]int64, error)
}

func (o *ordered) append(b block) {
	b.before = o.count
	o.count += b.count
	o.blocks = append(o.blocks, b)
}

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

// ofHistogram places each sample in the middle of its bucket, but not beyond the smallest and the largest sample.
func ofHistogram(h *hdrhistogram.Histogram, total sum, least, most int64) *ordered {
	o := &ordered{sum: total, rough: true}
	for _, bar := range h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		middle := min(max(bar.From+(bar.To-bar.From)/2, least), most)
		o.append(block{first: middle, last: middle, count: bar.Count})
	}
	// Smallest and largest are exact, whatever the bounds of their buckets are.
	o.split(0, least)
	o.split(len(o.blocks)-1, most)
	return o
}

// split gives one sample of a block its own value: the first sample of the first block, or the last sample of the last
// block.
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

// holding is the last block that begins at or below a value; false if all blocks are above it.
func (o *ordered) holding(value int64) (block, bool) {
	n := sort.Search(len(o.blocks), func(i int) bool { return o.blocks[i].first > value })
	if n == 0 {
		return block{}, false
	}
	return o.blocks[n-1], true
}

// bounds is the number of samples at or below a value: the smallest and largest possible number, from the blocks alone.
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

// atMost is the number of samples at or below a value.
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

// between returns the samples between two values, exclusive. No block may begin or end between them.
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
