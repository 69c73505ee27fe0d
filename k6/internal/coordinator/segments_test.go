// SPDX-License-Identifier: AGPL-3.0-only

package coordinator

import (
	"strings"
	"testing"

	"go.k6.io/k6/lib"
)

func TestSegmentsAreThoseOfK6(t *testing.T) {
	for of := 1; of <= 7; of++ {
		for number := 1; number <= of; number++ {
			args := SegmentArgs(number, of)
			var segment lib.ExecutionSegment
			var sequence lib.ExecutionSegmentSequence
			for prefix, into := range map[string]interface{ UnmarshalText([]byte) error }{
				"--execution-segment=": &segment, "--execution-segment-sequence=": &sequence} {
				for _, arg := range args {
					if text, ok := strings.CutPrefix(arg, prefix); ok {
						if err := into.UnmarshalText([]byte(text)); err != nil {
							t.Fatalf("%s: %v", arg, err)
						}
					}
				}
			}
			gotNumber, gotOf, err := PlaceOf(&segment, &sequence)
			if err != nil || gotNumber != number || gotOf != of {
				t.Errorf("%v: %d of %d, %v", args, gotNumber, gotOf, err)
			}
		}
	}
}

func TestASegmentWithoutItsSequenceIsRefused(t *testing.T) {
	var segment lib.ExecutionSegment
	if err := segment.UnmarshalText([]byte("0:1/2")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := PlaceOf(&segment, nil); err == nil || !strings.Contains(err.Error(), "give both") {
		t.Error(err)
	}
	if number, of, err := PlaceOf(nil, nil); number != 1 || of != 1 || err != nil {
		t.Error(number, of, err)
	}
}

func TestASequenceThatLeavesAPartOfTheLoadOutIsRefused(t *testing.T) {
	for _, text := range []string{"0,1/4,1/2", "1/4,1/2,1"} {
		sequence, err := lib.NewExecutionSegmentSequenceFromString(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := PlaceOf(sequence[0], &sequence); err == nil || !strings.Contains(err.Error(), "does not go from 0 to 1") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
