// SPDX-License-Identifier: AGPL-3.0-only

package environment

import "testing"

func TestDatabaseURL(t *testing.T) {
	for text, want := range map[string]string{
		"mysql://panel:s3cret@db.example.net:3306/panel":      "usable|db.example.net",
		"mysql+pymysql://panel:a%40b%2Fc@127.0.0.1/panel":     "usable|",
		"mariadb+asyncmy://panel:a:b/c%zz@[::1]:3306/x?a=b":   "usable|",
		"mysql://panel:pw@[2001:db8::1]:3306/panel":           "usable|2001:db8::1",
		"mysql://panel@localhost/panel":                       "usable|",
		"mysql://panel:pw@/panel?unix_socket=/run/mysql.sock": "usable|",
		"sqlite:////var/lib/marzban/db.sqlite3":               "usable|",
		"sqlite:///db.sqlite3":                                "usable|",
		"sqlite://var/lib/db.sqlite3":                         "not usable|var",
		"postgresql://panel:pw@db.example.net/panel":          "not usable|db.example.net",
		"mysql://panel:p@ss@db.example.net/panel":             "none",
		"db.example.net:3306":                                 "none",
		"/var/lib/marzban/db.sqlite3":                         "none",
		"":                                                    "none",
	} {
		got := "none"
		if d, ok := ParseDatabaseURL(text); ok {
			usable := map[bool]string{true: "usable", false: "not usable"}[d.Usable()]
			got = usable + "|" + d.RemoteHost()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
