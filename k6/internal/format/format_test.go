// SPDX-License-Identifier: AGPL-3.0-only

package format

import "testing"

func TestNumbers(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	for _, c := range []struct{ got, want string }{
		{MS(nil), "—"}, {MS(p(0.0004)), "0.000"}, {MS(p(0.7534)), "0.753"}, {MS(p(0.9996)), "1.00"},
		{MS(p(9.996)), "10.0"}, {MS(p(28.604)), "28.6"}, {MS(p(99.96)), "100"}, {MS(p(464.7)), "465"},
		{MS(p(1398.2)), "1,398"}, {MS(p(1234567)), "1,234,567"}, {MS(p(-1398.2)), "-1,398"},
		{MS(p(0.053)), "0.053"}, {MS(p(0.0531)), "0.053"}, {SignedMS(p(0.0214)), "+0.021"}, {SignedMS(p(-2)), "-2.00"}, {SignedMS(p(0)), "0.000"}, {SignedMS(nil), "—"},
		{Mbit(nil), "—"}, {Mbit(p(5.604)), "5.604"}, {Mbit(p(129.934)), "129.9"}, {Mbit(p(20123.4)), "20,123"},
		{Rate(nil), "—"}, {Rate(p(0)), "0"}, {Rate(p(9.7412)), "9.74"}, {Rate(p(34.06)), "34.1"}, {Rate(p(999.96)), "1,000"}, {Rate(p(32955.2)), "32,955"},
		{Success(500, 500), "500 (100%)"}, {Success(9996, 10000), "9,996 (99.96%)"},
		{Success(999999, 1000000), "999,999 (99.99%)"}, {Success(1, 1000000), "1 (<0.01%)"},
		{Success(0, 0), "0 (—)"}, {Success(0, 7), "0 (0%)"}, {Success(1, 2), "1 (50%)"}, {Success(29, 100), "29 (29%)"},
		{Share(nil), "—"}, {Share(p(0)), "0%"}, {Share(p(1)), "100%"}, {Share(p(0.99999)), "99.99%"}, {Share(p(0.0004)), "0.04%"}, {Share(p(0.00001)), "<0.01%"},
		{Value(p(12), "count"), "12"}, {Value(p(1.5), "ms"), "1.50 ms"}, {Value(p(500), "per_s"), "500.0/s"}, {Value(nil, "ms"), "—"},
		{MiB(73400320), "70.0"}, {MiB(1298137088), "1,238"}, {GiB(8321499136), "7.8 GiB"},
		{Any(float64(1000)), "1,000"}, {Any(0.25), "0.25"}, {Any("x"), "x"}, {Any(true), "true"},
		{Seconds(0.261), "0.26 s"}, {Seconds(14.777), "14.8 s"}, {Seconds(3700), "1h1m40s"},
		{Threshold(nil, "ms", "p(95)<25"), "—"}, {Threshold(p(24.2), "ms", "p(95)<25"), "24.2 ms"},
		{Threshold(p(25.04), "ms", "p(95)<25"), "25.04 ms"}, {Threshold(p(24.9996), "ms", "p(95)<25"), "24.9996 ms"},
		{Threshold(p(25), "ms", "p(95)<25"), "25.0 ms"}, {Threshold(p(25.04), "ms", "p(95)<=25.04"), "25.04 ms"},
		{Threshold(p(1000.4), "ms", "max < 1000"), "1,000.4 ms"}, {Threshold(p(2500.00001), "ms", "max<2500"), "2,500.00001 ms"},
		{Threshold(p(0.0100004), "share", "rate<=0.01"), "1.00004%"}, {Threshold(p(0.99), "share", "rate>=0.99"), "99%"},
		{Threshold(p(0.07), "share", "rate<=0.07"), "7%"}, {Threshold(p(0.00001), "share", "rate<=0"), "0.001%"},
		{Threshold(p(0.989999), "share", "rate>=0.99"), "98.9999%"}, {Threshold(p(499.96), "per_s", "rate>=500"), "499.96/s"},
		{Threshold(p(999999.6), "per_s", "rate>=1000000"), "999,999.6/s"}, {Threshold(p(1), "count", "count<1"), "1"},
		{Threshold(p(1234), "count", "count==1234"), "1,234"}, {Threshold(p(25.04), "ms", "?"), "25.0 ms"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
