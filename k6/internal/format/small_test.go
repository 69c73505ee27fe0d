// SPDX-License-Identifier: AGPL-3.0-only

package format

import "testing"

func TestSmallTimesAndLargeRatesHaveThreeDigitsAndAUnit(t *testing.T) {
	for got, want := range map[string]string{
		Nanoseconds(0.322):              "0.32 ns",
		Nanoseconds(2060):               "2.06 µs",
		Nanoseconds(775_000):            "775 µs",
		Nanoseconds(12_345_678):         "12.3 ms",
		Nanoseconds(1.64e9):             "1.64 s",
		BytesPerS(29.6 * (1 << 20)):     "29.6 MiB/s",
		BytesPerS(7.31 * (1 << 30)):     "7.31 GiB/s",
		BytesPerS(2048):                 "2.00 KiB/s",
		BytesPerS(12):                   "12.0 B/s",
		Bytes(64):                       "64 B",
		Bytes(1460):                     "1460 B",
		Bytes(64 << 10):                 "64 KiB",
		Bytes(1 << 20):                  "1 MiB",
		Digits(591.4) + " " + Digits(8): "591 8.00",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
