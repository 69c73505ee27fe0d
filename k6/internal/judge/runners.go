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
	"windtunnel/k6/internal/seq"
)

// Runner is one of several k6 processes of a run, as its evidence describes it. Units are in the JSON names.
type Runner struct {
	// Number is from 1 to Of.
	Number int `json:"number"`
	Of     int `json:"of"`
	// Together is unique to the run and the same in all its records: a run's id may be used again.
	Together string `json:"together,omitempty"`
	// Segment is its part of the load, in k6's notation: 0:1/2.
	Segment string `json:"segment"`
	// StartOffsetMS is the start of its load minus the common start, in ms; it is negative for an early start.
	StartOffsetMS float64 `json:"start_offset_ms"`
	// ClockOffsetMS is the coordinator's clock minus the runner's clock, in ms.
	ClockOffsetMS float64 `json:"clock_offset_ms"`
	// ZeroUnixMS is the zero of its operations' clock, by its own wall clock: lib/clock.js, measureOffset().
	ZeroUnixMS float64 `json:"zero_unix_ms"`
	// Machine is the kernel's boot id, which runners on one kernel share; "" if unknown.
	Machine string `json:"machine"`
	// CPUS is the CPU time of its process during the load, in seconds, and CPUs how many CPUs it may use. They replace
	// the sidecar's figures if there is no sidecar.
	CPUS *float64 `json:"cpu_s"`
	CPUs *float64 `json:"cpus"`
	// MachineCPUs is the number of CPUs of its machine, 0 if unknown. MachineBusyPercent is the load of those CPUs
	// during the load: several runners may share them.
	MachineCPUs        int      `json:"machine_cpus,omitempty"`
	MachineBusyPercent *float64 `json:"machine_busy_percent,omitempty"`
	// Teardown says that this runner ran the run's teardown. Its evidence has the observations before and after the
	// load.
	Teardown bool `json:"teardown"`
}

// Recorded is the data of one runner.
type Recorded struct {
	// Number is the runner's number; 0 if unknown.
	Number int
	// File is the record's name, "" without a record, with its size and its SHA-256 in hexadecimal.
	File   string
	Bytes  int64
	SHA256 string
	// Evidence and Record are the runner's measurements.
	Evidence Evidence
	Record   *record.Record
	// Lost says why no record counts; "" if one does.
	Lost string

	set   *record.Set
	close func() error
}

// Lost returns a runner without a record, which for example was killed or never started.
func Lost(number int, why string) Recorded { return Recorded{Number: number, Lost: why} }

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

// Runners judges a run by the records of all its runners; a plain k6 run has a single record. It names each runner
// whose record is missing, truncated, of another run or a duplicate, and the run does not pass. It sets the records'
// clocks, so opened records can be judged only once. It returns an error if no record can be judged, or a file can no
// longer be read.
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
	records := seq.Map(counted, func(one Recorded) *record.Record { return one.Record })
	set := record.Together(records...)
	found, err := judge(evidence, set)
	failed := []error{err, set.Err()}
	for _, one := range counted {
		failed = append(failed, one.set.Err())
	}
	return found, errors.Join(failed...)
}

func counting(all []Recorded) []Recorded {
	return slices.DeleteFunc(slices.Clone(all), func(r Recorded) bool { return r.Lost != "" })
}

func noneOf(all []Recorded) error {
	if len(all) == 0 {
		return errors.New("there is no record")
	}
	return errors.New(strings.Join(seq.Map(all, Recorded.why), "; "))
}

// leaveOutDoubled handles two records of one runner: the first counts, and the run does not pass, because either may be
// the right one.
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

// missing are the runners without any data.
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

// rowOfRunner is the result's row of a runner, before anything is judged.
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
