// SPDX-License-Identifier: AGPL-3.0-only

package format

import (
	"fmt"
	"strconv"
)

// Digits writes a number with three significant digits.
func Digits(v float64) string {
	switch {
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Nanoseconds returns text such as `2.06 µs`.
func Nanoseconds(ns float64) string {
	switch {
	case ns < 1e3:
		return Digits(ns) + " ns"
	case ns < 1e6:
		return Digits(ns/1e3) + " µs"
	case ns < 1e9:
		return Digits(ns/1e6) + " ms"
	}
	return Digits(ns/1e9) + " s"
}

// BytesPerS returns text such as `29.6 MiB/s`.
func BytesPerS(v float64) string {
	switch {
	case v >= 1<<30:
		return Digits(v/(1<<30)) + " GiB/s"
	case v >= 1<<20:
		return Digits(v/(1<<20)) + " MiB/s"
	case v >= 1<<10:
		return Digits(v/(1<<10)) + " KiB/s"
	}
	return Digits(v) + " B/s"
}

// Runs writes sorted numbers: several in a row as the first and the last of them, with a dash between.
func Runs(numbers []int, dash string) (written []string) {
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		run := strconv.Itoa(numbers[i])
		if last > i {
			run += dash + strconv.Itoa(numbers[last])
		}
		written = append(written, run)
		i = last + 1
	}
	return written
}

// Bytes returns text such as `64 KiB`, or `1460 B` if the size is no whole number of KiB.
func Bytes(bytes int64) string {
	const kib, mib = 1 << 10, 1 << 20
	switch {
	case bytes >= mib && bytes%mib == 0:
		return fmt.Sprintf("%d MiB", bytes/mib)
	case bytes >= kib && bytes%kib == 0:
		return fmt.Sprintf("%d KiB", bytes/kib)
	}
	return fmt.Sprintf("%d B", bytes)
}
