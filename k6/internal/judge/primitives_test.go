// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

// primitive has rounds with these medians, and bounds 1 % above and below; 0 bytes means no payload.
func primitive(subject, operation, implementation string, bytes int64, medians ...float64) Primitive {
	one := Primitive{Subject: subject, Operation: operation, Implementation: implementation}
	if bytes > 0 {
		one.Bytes = &bytes
	}
	for _, median := range medians {
		one.Rounds = append(one.Rounds, Round{Median: median, Low: median * 0.99, High: median * 1.01})
	}
	return one
}

const kib64 = 64 << 10

func TestATimeIsTheMedianOfTheRoundsWithinTheBoundsOfAll(t *testing.T) {
	if time := primitive("a", "b", "c", 0, 100, 300, 200).Time(); time != (Round{Median: 200, Low: 99, High: 303}) {
		t.Error(time)
	}
	if time := primitive("a", "b", "c", 0, 100, 200).Time(); time.Median != 150 {
		t.Error(time)
	}
}

func TestTheReferenceDocumentsCopyAndHeaderCannotBe(t *testing.T) {
	empty := primitive("control", "empty", "loop", 0, 0.32)
	if why := implausible(primitive("memory", "copy", "memcpy", kib64, 10), nil, empty); !strings.Contains(why, "6554 GB/s: no core moves more than 1024") {
		t.Error(why)
	}
	if why := implausible(primitive("header", "take", "borrowed", 10, 0.322), nil, empty); !strings.Contains(why, "empty loop") {
		t.Error(why)
	}
	if why := implausible(empty, nil, empty); why != "" {
		t.Error(why)
	}
}

func TestEncryptionThatBeatsTheCopyCannotBe(t *testing.T) {
	copied, empty := primitive("memory", "copy", "memcpy", kib64, 1000, 1010), primitive("control", "empty", "loop", 0, 0.3)
	for _, c := range []struct {
		about, operation string
		medians          []float64
		says             string
	}{
		{"half a copy", "encrypt", []float64{500, 505}, "copy of the same bytes"},
		{"half a copy, hashed", "hash", []float64{500, 505}, "copy of the same bytes"},
		{"eight copies", "encrypt", []float64{8000, 8100}, ""},
		{"within the margin", "encrypt", []float64{980, 990}, ""},
		{"moves nothing", "take", []float64{20, 20}, ""},
		{"a copy", "take and fill", []float64{800, 810}, ""},
		{"a tenth of a copy", "take and fill", []float64{100, 101}, "copy of the same bytes"},
		{"nothing", "encrypt", []float64{0}, "not a time"},
		{"no round", "encrypt", nil, "not a time"},
	} {
		why := implausible(primitive("aes-256-gcm", c.operation, "ring", kib64, c.medians...), &copied, empty)
		if (why == "") != (c.says == "") || !strings.Contains(why, c.says) {
			t.Errorf("%s: %q, want %q", c.about, why, c.says)
		}
	}
}

func TestMemoryThatBeatsTheCachesCannotBe(t *testing.T) {
	block := primitive("memory", "read", "std", 256<<20, 1e7)
	if why := implausibleBlock(block, 100); why != "" {
		t.Error(why)
	}
	if why := implausibleBlock(block, 20); !strings.HasPrefix(why, "27 GB/s: faster than the fastest copy in the caches (20 GB/s)") {
		t.Error(why)
	}
}

func TestAClockThatErrsAndABusyMachineAreTold(t *testing.T) {
	for about, c := range map[string]struct {
		twice, again float64
		waited       *float64
		implausible  int
		bad          []string
	}{
		"all is well":      {201, 99, p(0.03), 0, nil},
		"nobody tells":     {201, 99, nil, 0, nil},
		"optimised away":   {120, 99, p(0.03), 0, []string{"twice the work"}},
		"at the bounds":    {220, 104.9, p(0.25), 0, nil},
		"unsteady":         {201, 120, p(0.03), 0, []string{"the same work again"}},
		"a busy machine":   {201, 99, p(0.4), 0, []string{"waiting for the CPU"}},
		"cannot be true":   {201, 99, nil, 2, []string{"plausible"}},
		"everything wrong": {100, 94, p(0.26), 1, []string{"twice the work", "the same work again", "waiting for the CPU", "plausible"}},
	} {
		checks := primitiveChecks(primitive("control", "work", "sha2", 0, 100), primitive("control", "work twice", "sha2", 0, c.twice),
			primitive("control", "work again", "sha2", 0, c.again), c.waited, c.implausible)
		var bad []string
		for _, one := range checks {
			if one.OK != nil && !*one.OK {
				bad = append(bad, one.Check)
			}
		}
		if !slices.Equal(bad, c.bad) {
			t.Errorf("%s: %q, want %q: %+v", about, bad, c.bad, checks)
		}
		if open := checks[2].OK == nil; open != (c.waited == nil) {
			t.Errorf("%s: %+v", about, checks[2])
		}
	}
}

// measuredPrimitives has the controls, the memory part, and an AEAD with its copy of 64 KiB, which takes the given time
// in ns.
func measuredPrimitives(copied float64) Primitives {
	in := func(section string, one Primitive) Primitive {
		one.Section = section
		return one
	}
	return Primitives{Measurements: []Primitive{
		in("control", primitive("control", "empty", "loop", 0, 0.3)),
		in("control", primitive("control", "work", "sha2", 0, 1000)),
		in("control", primitive("control", "work twice", "sha2", 0, 2000)),
		in("control", primitive("control", "work again", "sha2", 0, 1001)),
		in("memory", primitive("memory", "copy", "memcpy", 1<<28, 2e7)),
		in("aead", primitive("memory", "copy", "memcpy", kib64, copied)),
		in("aead", primitive("aes-256-gcm", "encrypt", "ring", kib64, 10_000)),
	}}
}

func TestPrimitivesAreJudged(t *testing.T) {
	good := measuredPrimitives(1000)
	j, err := OfPrimitives(good)
	if err != nil || j.Verdict != result.Pass || len(j.Reasons) != 0 || len(j.Validity) != 4 {
		t.Errorf("%+v, %v", j, err)
	}
	bad := measuredPrimitives(10)
	j, err = OfPrimitives(bad)
	if err != nil || j.Verdict != result.Inconclusive || reasonsOf(j) != "plausible: 1 measurement cannot be true" {
		t.Errorf("%s, %s, %v", j.Verdict, reasonsOf(j), err)
	}
	for i, one := range bad.Measurements {
		if (one.Implausible != "") != (i == 5) {
			t.Errorf("%s %s: %q", one.Subject, one.Operation, one.Implausible)
		}
	}
	// Memory is not compared with its own copy, but with the copies within the caches.
	slow := measuredPrimitives(10_000)
	if _, err := OfPrimitives(slow); err != nil || !strings.Contains(slow.Measurements[4].Implausible, "in the caches") {
		t.Errorf("%+v %v", slow.Measurements[4], err)
	}
	good.Measurements = good.Measurements[1:]
	if _, err := OfPrimitives(good); err == nil || !strings.Contains(err.Error(), `did not measure the control "empty"; run make bin/primitives`) {
		t.Error(err)
	}
}
