// SPDX-License-Identifier: AGPL-3.0-only

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/record"
)

const operation = "send"

// evidence returns what the judge needs to know about a run of 60 s.
func evidence(s size, number int) ([]byte, error) {
	e := judge.Evidence{
		Run:   json.RawMessage(`{"id":"made","start":"2026-01-01T00:00:00Z","end":"2026-01-01T00:01:00Z","duration_s":60,"system":"pulsar","scenario":"made","profile":"full","environment":"local"}`),
		LoadS: 60,
	}
	e.Operations = []judge.Operation{{Name: operation, Title: "Send", Loop: "closed", LatencyIs: "made"}}
	e.Plan.Seconds = 60
	e.Counts.Iterations = float64(s.samples)
	if s.runners > 1 {
		e.Runner = &judge.Runner{Number: number, Of: s.runners, Segment: fmt.Sprintf("%d/%d:%d/%d", number-1, s.runners, number, s.runners), Teardown: number == 1}
	}
	return json.Marshal(e)
}

// filled returns a record of random latencies in nanoseconds, spread log-normally around 20 ms.
func filled(samples, number int) *record.Record {
	r := record.New()
	random := rand.New(rand.NewPCG(uint64(number), 1))
	tags := map[string]string{"operation": operation}
	latency := r.Series("operation_ms", metrics.Trend, tags)
	failed := r.Series("operation_failed", metrics.Rate, tags)
	for range samples {
		latency.Add(20 * math.Exp(random.NormFloat64()))
		failed.Add(0)
	}
	r.Series("operation_items", metrics.Counter, tags).Add(float64(samples))
	clock := r.Series("operation_clock_ms", metrics.Gauge, tags)
	clock.Add(0)
	clock.Add(60_000)
	return r
}

// contents is the number of different sample files. With 200 runners, two runners share each file, which halves the time
// to make them.
const contents = 100

// sampleFile returns the file with a runner's samples. All runs of one size share these files.
func sampleFile(dir string, samples, number int) (string, error) {
	number = 1 + (number-1)%contents
	path := filepath.Join(dir, fmt.Sprintf("made-%d-%d", samples, number))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	out := bufio.NewWriter(file)
	return path, errors.Join(filled(samples, number).Write(out, json.RawMessage("{}")), out.Flush(), file.Close())
}

// folderOf writes the records of a run, and returns their folder and their size.
func folderOf(dir string, s size) (folder string, bytes int64, err error) {
	folder = filepath.Join(dir, fmt.Sprintf("%dx%d", s.runners, s.samples))
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", 0, err
	}
	for number := 1; number <= s.runners; number++ {
		made, err := sampleFile(dir, s.samples, number)
		if err != nil {
			return "", 0, err
		}
		written, err := withEvidence(made, filepath.Join(folder, judge.FileOf("pulsar-made", number)), s, number)
		if err != nil {
			return "", 0, err
		}
		bytes += written
	}
	return folder, bytes, nil
}

func withEvidence(from, to string, s size, number int) (bytes int64, err error) {
	own, err := evidence(s, number)
	if err != nil {
		return 0, err
	}
	source, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return 0, err
	}
	file, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	failed := record.Rewrite(source, info.Size(), file, func(json.RawMessage) (json.RawMessage, error) { return own, nil })
	return info.Size(), errors.Join(failed, file.Close())
}
