// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"
	"math"
	"slices"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/result"
)

const (
	// mostBytesPerNS is more than any core can move: two loads of 64 bytes in each of 8 cycles.
	mostBytesPerNS = 1024
	// emptyMargin is in multiples of an empty loop: an operation that takes no longer than this does no work.
	emptyMargin = 1.2
	// The valid range of the time for twice the work, relative to the time for the work.
	twiceLeast, twiceMost = 1.8, 2.2
	// again is the tolerated relative difference between two measurements of the same work.
	again = 0.05
	// waitedMost is the largest share of time, in any part, in which the measuring thread may wait for its CPU.
	waitedMost = 0.25
	// copyOperation is the reference for operations on the same bytes; memorySection has the blocks that are larger than
	// all caches.
	copyOperation, memorySection = "copy", "memory"
)

// Primitives are the measurements of `sidecar bench primitives`.
type Primitives struct {
	Measurements []Primitive `json:"measurements" jsonschema:"minItems=1"`
	// The largest share of a part's time in which it waited for its CPU; null if the kernel does not report it.
	Waited *float64 `json:"waited" jsonschema:"minimum=0,maximum=1"`
}

// Primitive is one operation of one library, with one size of the payload or rule set.
type Primitive struct {
	Section string `json:"section" jsonschema:"enum=control,enum=memory,enum=aead,enum=hash,enum=domain,enum=ip,enum=geoip,enum=buffers"`
	// An algorithm or a structure, such as aes-256-gcm.
	Subject string `json:"subject" jsonschema:"minLength=1"`
	// An operation such as encrypt, hash, match, take.
	Operation string `json:"operation" jsonschema:"minLength=1"`
	// The library: ring, rustcrypto, portable (the same library without CPU extensions), memcpy …
	Implementation string `json:"implementation" jsonschema:"minLength=1"`
	// Payload of one operation.
	Bytes *int64 `json:"bytes,omitempty" jsonschema:"minimum=1"`
	// Size of the rule set.
	Rules *int64 `json:"rules,omitempty" jsonschema:"minimum=1"`
	// Wall time of building the rule set once.
	BuildS float64 `json:"build_s,omitempty" jsonschema:"minimum=0"`
	// Criterion's medians in nanoseconds, with their 95 % bootstrap intervals. They took turns with the rounds of other
	// primitives.
	Rounds []Round `json:"rounds" jsonschema:"minItems=1"`
	// Implausible says why the figure cannot be true, "" if it can be. The judge sets it.
	Implausible string `json:"-"`
}

// Round is the CPU time of one operation in ns: a median with its 95 % interval.
type Round struct {
	Median     float64 `json:"median" jsonschema:"exclusiveMinimum=0"`
	Low        float64 `json:"low" jsonschema:"exclusiveMinimum=0"`
	High       float64 `json:"high" jsonschema:"exclusiveMinimum=0"`
	Samples    int64   `json:"samples" jsonschema:"minimum=1"`
	Iterations float64 `json:"iterations" jsonschema:"minimum=1"`
}

// Time is the median of the rounds. Its interval is from the smallest lower bound to the largest upper bound of the
// rounds.
func (p Primitive) Time() Round {
	time := Round{Low: math.Inf(1)}
	var medians []float64
	for _, round := range p.Rounds {
		medians = append(medians, round.Median)
		time.Low, time.High = min(time.Low, round.Low), max(time.High, round.High)
	}
	time.Median = difference.Median(medians)
	return time
}

// BytesPerS is the throughput in bytes per second, false without a payload.
func (p Primitive) BytesPerS() (float64, bool) {
	if p.Bytes == nil {
		return 0, false
	}
	return p.bytesPerNS() * 1e9, true
}

func (p Primitive) bytesPerNS() float64 { return float64(*p.Bytes) / p.Time().Median }

// copiesAtLeast is the smallest valid time of an operation, in copies of the same bytes: an operation that works on each
// byte is not faster than a copy. Taking a buffer and filling it is a copy itself, whose bytes may be in a nearer cache.
// It is 0 for operations that are not compared with a copy.
func copiesAtLeast(operation string) float64 {
	switch operation {
	case "encrypt", "decrypt", "hash":
		return 0.9
	case "take and fill":
		return 0.4
	}
	return 0
}

// moves reports whether an operation copies its payload.
func moves(operation string) bool {
	return copiesAtLeast(operation) > 0 || operation == copyOperation || operation == "read" || operation == "write"
}

// implausible says why a measurement cannot be true, "" if it can be. copied is the copy of the same number of bytes,
// nil without one.
func implausible(p Primitive, copied *Primitive, empty Primitive) string {
	time := p.Time()
	copies := copiesAtLeast(p.Operation)
	switch {
	case p.Operation == "empty":
		return ""
	case math.IsInf(time.Median, 0) || !(time.Median > 0):
		return "the value is not a time"
	case moves(p.Operation) && p.Bytes != nil && p.bytesPerNS() > mostBytesPerNS:
		return fmt.Sprintf("%.0f GB/s: no core moves more than %d", p.bytesPerNS(), mostBytesPerNS)
	case time.Median < empty.Time().Median*emptyMargin:
		return "it takes no longer than an empty loop"
	case copies > 0 && copied != nil && time.High < copied.Time().Low && time.Median < copied.Time().Median*copies:
		return "it is faster than a copy of the same bytes"
	}
	return ""
}

// implausibleBlock is the same for a block larger than all caches. fastest is the speed of the fastest copy within the
// caches, in bytes per nanosecond.
func implausibleBlock(p Primitive, fastest float64) string {
	if p.Bytes == nil || p.bytesPerNS() <= fastest {
		return ""
	}
	return fmt.Sprintf("%.0f GB/s: faster than the fastest copy in the caches (%.0f GB/s)", p.bytesPerNS(), fastest)
}

// find returns the control with the name of an operation.
func (p Primitives) find(operation string) (Primitive, error) {
	i := slices.IndexFunc(p.Measurements, func(one Primitive) bool { return one.Subject == "control" && one.Operation == operation })
	if i < 0 {
		return Primitive{}, fmt.Errorf("the worker did not measure the control %q; run make bin/primitives", operation)
	}
	return p.Measurements[i], nil
}

func (p Primitives) copyOf(section string, bytes *int64) *Primitive {
	for i, one := range p.Measurements {
		if bytes != nil && one.Section == section && one.Operation == copyOperation && one.Bytes != nil && *one.Bytes == *bytes {
			return &p.Measurements[i]
		}
	}
	return nil
}

// judge marks each measurement that cannot be true, and returns their number.
func (p Primitives) judge(empty Primitive) (count int) {
	fastest := math.Inf(-1)
	for _, one := range p.Measurements {
		if one.Section != memorySection && one.Operation == copyOperation && one.Bytes != nil {
			fastest = max(fastest, one.bytesPerNS())
		}
	}
	if math.IsInf(fastest, -1) {
		fastest = math.Inf(1)
	}
	for i, one := range p.Measurements {
		why := implausible(one, p.copyOf(one.Section, one.Bytes), empty)
		if why == "" && one.Section == memorySection {
			why = implausibleBlock(one, fastest)
		}
		if p.Measurements[i].Implausible = why; why != "" {
			count++
		}
	}
	return count
}

// timesOf is the ratio of the medians of second to those of first: the median over the rounds.
func timesOf(first, second Primitive) float64 {
	var all []float64
	for i := range min(len(first.Rounds), len(second.Rounds)) {
		all = append(all, second.Rounds[i].Median/first.Rounds[i].Median)
	}
	return difference.Median(all)
}

// primitiveChecks are the known answers of the measurement, and the state of the machine meanwhile.
func primitiveChecks(work, twice, repeated Primitive, waited *float64, implausible int) []result.Validity {
	ratio, differs := timesOf(work, twice), math.Abs(timesOf(work, repeated)-1)
	waiting := &result.Validity{Check: "waiting for the CPU", Kind: result.Machine, Detail: "unknown: the kernel has no CONFIG_SCHED_INFO"}
	if waited != nil {
		waiting = check(waiting.Check, waiting.Kind, *waited <= waitedMost, fmt.Sprintf(
			"at most %.0f %% of a part's time, while others used the CPU; 25 %% is accepted because times are CPU times", *waited*100))
	}
	plausible := "nothing is faster than the machine allows"
	switch {
	case implausible == 1:
		plausible = "1 measurement cannot be true"
	case implausible > 1:
		plausible = fmt.Sprintf("%d measurements cannot be true", implausible)
	}
	return []result.Validity{
		*check("twice the work", result.Machine, ratio >= twiceLeast && ratio <= twiceMost, fmt.Sprintf("took %.2f times as long; 1.8 to 2.2 is accepted", ratio)),
		*check("the same work again", result.Machine, differs <= again, fmt.Sprintf("differed by %.1f %%; 5 %% is accepted", differs*100)),
		*waiting,
		*check("plausible", meter, implausible == 0, plausible),
	}
}

// OfPrimitives marks measurements that cannot be true, and decides whether the figures can be trusted. The result has
// neither a run nor sections yet. It returns an error if a control is missing.
func OfPrimitives(p Primitives) (Judged, error) {
	controls := map[string]Primitive{}
	for _, operation := range []string{"empty", "work", "work twice", "work again"} {
		found, err := p.find(operation)
		if err != nil {
			return Judged{}, err
		}
		controls[operation] = found
	}
	j := Judged{Schema: result.Schema, Result: result.Result{
		Operations: []result.Operation{}, Processes: []result.Process{}, Thresholds: []result.Threshold{}, Notes: []string{}, Sections: []result.Section{},
		Validity: primitiveChecks(controls["work"], controls["work twice"], controls["work again"], p.Waited, p.judge(controls["empty"])),
	}}
	found := decide(nil, j.Validity, nil, nil)
	j.Verdict, j.Reasons = found.verdict, fold(found.reasons)
	return j, nil
}
