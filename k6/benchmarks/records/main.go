// SPDX-License-Identifier: AGPL-3.0-only

// Command records prints two costs as the Markdown of docs/benchmarks.md. One is the cost for a k6 process to record ten million
// samples, the other the cost for `k6 x judge` to judge the records of many runners. `make benchmark-records` runs it in the folder k6.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	k6 := flag.String("k6", "bin/k6", "that judges")
	runs := flag.String("runs", "1x5000000,10x5000000,50x5000000,200x5000000,200x500000,200x50000", "RUNNERSxSAMPLES of each, with commas between")
	samples := flag.Int("live", 10_000_000, "samples that one k6 process records; 0: no such run")
	dir := flag.String("dir", "", "a folder in which made samples are left for the next time; a temporary one unless given")
	flag.Parse()
	if err := run(*k6, *runs, *samples, *dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// size is the number of runners of a run, and the number of samples of each runner.
type size struct{ runners, samples int }

func run(k6, runs string, samples int, dir string) (err error) {
	sizes, err := sizesOf(runs)
	if err != nil {
		return err
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "windtunnel-records-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}

	if samples > 0 {
		told, err := live(k6, dir, samples)
		if err != nil {
			return err
		}
		fmt.Printf("%s\n\n", told)
	}
	fmt.Println("| Runners | Samples each | Samples | Records (MiB) | Judged in (s) | Samples a second | CPU (s) | Peak memory (MiB) |")
	fmt.Println("|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, s := range sizes {
		one, err := measure(k6, dir, s)
		if err != nil {
			return fmt.Errorf("%d x %d: %w", s.runners, s.samples, err)
		}
		fmt.Println(one.row())
	}
	return nil
}

func sizesOf(text string) (sizes []size, err error) {
	for _, one := range strings.Split(text, ",") {
		runners, samples, _ := strings.Cut(one, "x")
		r, failed := strconv.Atoi(runners)
		s, bad := strconv.Atoi(samples)
		if failed != nil || bad != nil || r < 1 || s < 1 {
			return nil, fmt.Errorf("--runs: %q is no RUNNERSxSAMPLES, such as 200x5000000", one)
		}
		sizes = append(sizes, size{r, s})
	}
	return sizes, nil
}
