// SPDX-License-Identifier: AGPL-3.0-only

package coordinator

import (
	"fmt"
	"strings"

	"go.k6.io/k6/lib"
)

// SegmentArgs are the arguments of k6 run for one of several runners; each runner makes an equal part of the load.
func SegmentArgs(number, of int) []string {
	ends := make([]string, of+1)
	for i := range ends {
		ends[i] = fmt.Sprintf("%d/%d", i, of)
	}
	ends[0], ends[of] = "0", "1"
	return []string{
		"--execution-segment=" + ends[number-1] + ":" + ends[number],
		"--execution-segment-sequence=" + strings.Join(ends, ","),
	}
}

// PlaceOf returns a process's runner number and the number of runners, from its execution segment.
func PlaceOf(segment *lib.ExecutionSegment, sequence *lib.ExecutionSegmentSequence) (number, of int, err error) {
	if segment == nil {
		return 1, 1, nil
	}
	if sequence == nil || len(*sequence) == 0 {
		return 0, 0, fmt.Errorf("--execution-segment=%s without --execution-segment-sequence: give both", segment)
	}
	if !sequence.IsFull() {
		return 0, 0, fmt.Errorf("--execution-segment-sequence=%s does not go from 0 to 1: a part of the load would be missing", sequence)
	}
	for i, one := range *sequence {
		if one.Equal(segment) {
			return i + 1, len(*sequence), nil
		}
	}
	return 0, 0, fmt.Errorf("--execution-segment=%s is not in --execution-segment-sequence=%s", segment, sequence)
}
