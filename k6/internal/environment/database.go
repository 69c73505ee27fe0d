// SPDX-License-Identifier: AGPL-3.0-only

package environment

import "regexp"

// DatabaseURL is what matters here of a database's URL as SQLAlchemy writes it:
// DIALECT[+DRIVER]://USER:PASSWORD@HOST:PORT/NAME.
type DatabaseURL struct {
	dialect, host string
}

// SQLAlchemy's own expression, but that a host has no @: there a password's @ was not escaped.
var databaseURL = regexp.MustCompile(
	`^(\w+)(?:\+\w+)?://(?:[^:/]*(?::[^@]*)?@)?(?:\[([^/?]+)\]|([^/:?@]+))?(?::[^/?@]*)?(?:/[^?]*)?(?:\?.*)?$`)

// ParseDatabaseURL reads a database's URL; ok is false where it is none.
func ParseDatabaseURL(text string) (parsed DatabaseURL, ok bool) {
	m := databaseURL.FindStringSubmatch(text)
	if m == nil {
		return parsed, false
	}
	return DatabaseURL{dialect: m[1], host: m[2] + m[3]}, true
}

// Usable reports whether it is of a database that scenarios can speak to: a server of MySQL or MariaDB or
// a file of SQLite.
func (d DatabaseURL) Usable() bool {
	switch d.dialect {
	case "mysql", "mariadb":
		return true
	case "sqlite":
		return d.host == ""
	}
	return false
}

// RemoteHost returns the host without its port, "" where that is this machine.
func (d DatabaseURL) RemoteHost() string {
	if d.host == "" || IsLoopback(d.host) {
		return ""
	}
	return d.host
}
