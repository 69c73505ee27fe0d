// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
)

// Runner is one k6 process of a run of several, as it says of itself in its evidence. Units are in the JSON names.
type Runner struct {
	// Number is from 1 to Of.
	Number int `json:"number"`
	Of     int `json:"of"`
	// Together is the same text in all records of one run, and of no other: a run's id may be used again.
	Together string `json:"together,omitempty"`
	// Segment is its part of the load, as k6 writes it: 0:1/2.
	Segment string `json:"segment"`
	// StartOffsetMS is how long after the common start its load began; below 0 it was early.
	StartOffsetMS float64 `json:"start_offset_ms"`
	// ClockOffsetMS is what its own clock must be set forward by, to be the coordinator's.
	ClockOffsetMS float64 `json:"clock_offset_ms"`
	// ZeroUnixMS is when, by its own clock, the clock of its operations was 0: lib/clock.js, measureOffset().
	ZeroUnixMS float64 `json:"zero_unix_ms"`
	// Machine is the same for runners that share a kernel (its boot id), and "" where nobody can tell.
	Machine string `json:"machine"`
	// CPUS is the CPU time of its process while the load ran, and CPUs how many it may use: for where no sidecar is beside it.
	CPUS *float64 `json:"cpu_s"`
	CPUs *float64 `json:"cpus"`
	// MachineCPUs is how many CPUs its machine has, 0 where that cannot be told, and MachineBusyPercent how busy they were while
	// the load ran: several runners may share them.
	MachineCPUs        int      `json:"machine_cpus,omitempty"`
	MachineBusyPercent *float64 `json:"machine_busy_percent,omitempty"`
	// Teardown: it ran the run's teardown, and has what was seen before and after the load.
	Teardown bool `json:"teardown"`
}

// Recorded is what came of one runner.
type Recorded struct {
	// Number is the runner's; 0 where neither its evidence nor anybody else says it.
	Number int
	// File is the record's name, "" where none came, with its size and its SHA-256 in hexadecimal.
	File   string
	Bytes  int64
	SHA256 string
	// Evidence and Record are what it left.
	Evidence Evidence
	Record   *record.Record
	// Lost is why there is no record that counts; "" where there is one.
	Lost string

	set   *record.Set
	close func() error
}

// Lost is a runner without a record: it was killed, say, or never came.
func Lost(number int, why string) Recorded { return Recorded{Number: number, Lost: why} }

// name is what messages call its runner.
func (r Recorded) name() string {
	if r.Number > 0 {
		return fmt.Sprintf("runner %d", r.Number)
	}
	return "a runner"
}

// why is Lost with the file's name.
func (r Recorded) why() string {
	if r.File == "" {
		return r.Lost
	}
	return r.File + ": " + r.Lost
}

// Runners judges a run by the records of all its runners; one record of a run of one is judged as Judge does. A runner whose
// record is missing, cut short, of another run or there already is named, and the run does not pass. It sets the records' clocks,
// so that what was opened is judged once. The error is that no record can be judged at all, or no longer be read.
func Runners(all []Recorded) (Judged, error) {
	all = slices.Clone(all)
	leaveOutForeign(all)
	leaveOutDoubled(all)
	all = append(all, missing(all)...)
	slices.SortStableFunc(all, func(a, b Recorded) int { return cmp.Compare(a.Number, b.Number) })
	for i, one := range all {
		if one.Lost == "" {
			all[i].set = record.Together(one.Record)
		}
	}
	counted := counting(all)
	if len(counted) == 0 {
		return Judged{}, noneOf(all)
	}
	evidence, err := combined(counted)
	if err != nil {
		return Judged{}, err
	}
	if len(all) > 1 || evidence.Runner != nil {
		evidence.runners = all
	}
	var records []*record.Record
	for _, one := range counted {
		records = append(records, one.Record)
	}
	set := record.Together(records...)
	found, err := Judge(evidence, set)
	failed := []error{err, set.Err()}
	for _, one := range counted {
		failed = append(failed, one.set.Err())
	}
	return found, errors.Join(failed...)
}

// counting are those with a record that counts.
func counting(all []Recorded) []Recorded {
	return slices.DeleteFunc(slices.Clone(all), func(r Recorded) bool { return r.Lost != "" })
}

func noneOf(all []Recorded) error {
	if len(all) == 0 {
		return errors.New("there is no record")
	}
	var why []string
	for _, one := range all {
		why = append(why, one.why())
	}
	return errors.New(strings.Join(why, "; "))
}

// leaveOutDoubled: of two records of one runner nobody can tell which is meant; the first counts, and the run does not pass.
func leaveOutDoubled(all []Recorded) {
	first := map[int]string{}
	for i, one := range all {
		if one.Lost != "" || one.Number == 0 {
			continue
		}
		if other, known := first[one.Number]; known {
			all[i].Lost = "a record of the same runner is there already: " + other
			continue
		}
		first[one.Number] = one.File
	}
}

// missing are the runners of whom nothing is known at all.
func missing(all []Recorded) (none []Recorded) {
	of := 0
	known := map[int]bool{}
	for _, one := range all {
		known[one.Number] = true
		if one.Lost == "" && one.Evidence.Runner != nil {
			of = max(of, one.Evidence.Runner.Of)
		}
	}
	for number := 1; number <= of; number++ {
		if !known[number] {
			none = append(none, Lost(number, "no record came"))
		}
	}
	return none
}

// rowOfRunner is what the result has of a runner, before anything is judged.
func rowOfRunner(one Recorded) result.Runner {
	row := result.Runner{Number: one.Number}
	if one.Lost != "" {
		row.Detail = one.why()
	}
	if one.File != "" {
		row.Record = &result.RecordFile{File: one.File, Bytes: one.Bytes, SHA256: one.SHA256}
	}
	if own := one.Evidence.Runner; own != nil && one.Lost == "" {
		row.Segment, row.StartOffsetMS, row.ClockOffsetMS = own.Segment, &own.StartOffsetMS, &own.ClockOffsetMS
		row.CPUPercent, row.DroppedIterations = cpuPercentOf(one.Evidence), one.Evidence.Counts.Dropped
	}
	return row
}
