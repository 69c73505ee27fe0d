// SPDX-License-Identifier: AGPL-3.0-only

package format

import "testing"

func TestNumbersForPeople(t *testing.T) {
	count := func(v *float64) string { return Count(int64(*v)) }
	for _, c := range []struct {
		write func(*float64) string
		value float64
		want  string
	}{
		{MS, 0.0004, "0.000"},
		{MS, 0.7534, "0.753"},
		{MS, 0.9996, "1.00"},
		{MS, 9.996, "10.0"},
		{MS, 28.604, "28.6"},
		{MS, 99.96, "100"},
		{MS, 464.7, "465"},
		{MS, 1398.2, "1,398"},
		{MS, 1234567, "1,234,567"},
		{Rate, 0, "0"},
		{Rate, 9.7412, "9.74"},
		{Rate, 34.06, "34.1"},
		{Rate, 999.96, "1,000"},
		{Rate, 32955.2, "32,955"},
		{count, 0, "0"},
		{count, 999, "999"},
		{count, 1234, "1,234"},
		{count, 1000000, "1,000,000"},
		{Share, 0, "0%"},
		{Share, 1, "100%"},
		{Share, 0.99999, "99.99%"},
		{Share, 0.0004, "0.04%"},
		{Share, 1e-05, "<0.01%"},
		{Share, 0.07, "7%"},
	} {
		if got := c.write(&c.value); got != c.want {
			t.Errorf("%v: %q, want %q", c.value, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	for _, c := range []struct{ got, want string }{
		{MS(nil), "—"}, {MS(p(-1398.2)), "-1,398"},
		{MS(p(0.053)), "0.053"}, {MS(p(0.0531)), "0.053"}, {SignedMS(p(0.0214)), "+0.021"}, {SignedMS(p(-2)), "-2.00"}, {SignedMS(p(0)), "0.000"}, {SignedMS(nil), "—"},
		{Mbit(nil), "—"}, {Mbit(p(5.604)), "5.604"}, {Mbit(p(129.934)), "129.9"}, {Mbit(p(20123.4)), "20,123"},
		{Rate(nil), "—"},
		{Success(500, 500), "500 (100%)"}, {Success(9996, 10000), "9,996 (99.96%)"},
		{Success(999999, 1000000), "999,999 (99.99%)"}, {Success(1, 1000000), "1 (<0.01%)"},
		{Success(0, 0), "0 (—)"}, {Success(0, 7), "0 (0%)"}, {Success(1, 2), "1 (50%)"}, {Success(29, 100), "29 (29%)"},
		{Share(nil), "—"},
		{Value(p(12), "count"), "12"}, {Value(p(1.5), "ms"), "1.50 ms"}, {Value(p(500), "per_s"), "500.0/s"}, {Value(nil, "ms"), "—"},
		{MiB(73400320), "70.0"}, {MiB(1298137088), "1,238"}, {GiB(8321499136), "7.8 GiB"},
		{Any(float64(1000)), "1,000"}, {Any(0.25), "0.25"}, {Any("x"), "x"}, {Any(true), "true"},
		{Seconds(0.261), "0.26 s"}, {Seconds(14.777), "14.8 s"}, {Seconds(3700), "1h1m40s"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestAsManyDigitsAsShowTheSideOfABound(t *testing.T) {
	for _, c := range []struct {
		write        func(*float64) string
		value, bound float64
		want         string
	}{
		{MS, 24.2, 25, "24.2"},
		{MS, 25.04, 25, "25.04"},
		{MS, 24.9996, 25, "24.9996"},
		{MS, 25, 25, "25.0"},
		{MS, 1000.4, 1000, "1,000.4"},
		{MS, 2500.00001, 2500, "2,500.00001"},
		{Share, 0.0100004, 0.01, "1.00004%"},
		{Share, 0.07, 0.07, "7%"},
		{Share, 0.00001, 0, "0.001%"},
		{Share, 0.989999, 0.99, "98.9999%"},
		{Rate, 499.96, 500, "499.96"},
		{Rate, 999999.6, 1000000, "999,999.6"},
	} {
		if got := Beside(c.write, c.value, c.bound); got != c.want {
			t.Errorf("%v beside %v: %q, want %q", c.value, c.bound, got, c.want)
		}
	}
}
