// SPDX-License-Identifier: AGPL-3.0-only

package environment

import "regexp"

// DatabaseURL has the needed parts of a database's URL in SQLAlchemy's form:
// DIALECT[+DRIVER]://USER:PASSWORD@HOST:PORT/NAME.
type DatabaseURL struct {
	dialect, host string
}

// This is SQLAlchemy's expression, except that a host has no @: an @ there is an unescaped @ of the password.
var databaseURL = regexp.MustCompile(
	`^(\w+)(?:\+\w+)?://(?:[^:/]*(?::[^@]*)?@)?(?:\[([^/?]+)\]|([^/:?@]+))?(?::[^/?@]*)?(?:/[^?]*)?(?:\?.*)?$`)

// ParseDatabaseURL parses a database's URL; ok is false if the text is no such URL.
func ParseDatabaseURL(text string) (parsed DatabaseURL, ok bool) {
	m := databaseURL.FindStringSubmatch(text)
	if m == nil {
		return parsed, false
	}
	return DatabaseURL{dialect: m[1], host: m[2] + m[3]}, true
}

// Usable reports whether scenarios can use the database: a server of MySQL or MariaDB, or a file of SQLite.
func (d DatabaseURL) Usable() bool {
	switch d.dialect {
	case "mysql", "mariadb":
		return true
	case "sqlite":
		return d.host == ""
	}
	return false
}

// RemoteHost returns the host without its port, "" if the host is this machine.
func (d DatabaseURL) RemoteHost() string {
	if d.host == "" || IsLoopback(d.host) {
		return ""
	}
	return d.host
}
