// SPDX-License-Identifier: AGPL-3.0-only

// Package influx writes points to InfluxDB over its v1 interface, which versions 1, 2 and 3 support. It never stops or
// delays its callers: a dead, slow or full server costs one warning and the missing points.
package influx

import (
	"cmp"
	"errors"
	"net/url"
	"strings"

	"windtunnel/k6/internal/variables"
)

// DefaultURL is the address of InfluxDB after `make up` or `make influx`.
var DefaultURL = variables.Default(VariableURL)

// The variables for the address and the login.
const (
	VariableURL      = "INFLUX"
	VariableUsername = "INFLUX_USERNAME"
	VariablePassword = "INFLUX_PASSWORD"
	VariableToken    = "INFLUX_TOKEN"
	VariableDatabase = "INFLUX_DATABASE"
)

// SecretVariables are the variables with secret values.
func SecretVariables() []string { return []string{VariablePassword, VariableToken} }

// Config is the address and the login. Given says whether INFLUX named the server.
type Config struct {
	URL, Database, Username string
	Given                   bool
	password, token         string // the token replaces the password, if both are set
}

// FromEnvironment reads the variables; an unset variable is "". The error is one line and quotes no value, because
// values may contain a password.
func FromEnvironment(getenv func(string) string) (Config, error) {
	c := Config{
		URL:      strings.TrimRight(cmp.Or(getenv(VariableURL), DefaultURL), "/"),
		Database: cmp.Or(getenv(VariableDatabase), variables.Default(VariableDatabase)),
		Username: cmp.Or(getenv(VariableUsername), variables.Default(VariableUsername)),
		Given:    getenv(VariableURL) != "",
		password: getenv(VariablePassword),
		token:    getenv(VariableToken),
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return c, errors.New("INFLUX is no base URL; give one such as " + DefaultURL)
	case u.User != nil:
		return c, errors.New("INFLUX holds a login; give it by INFLUX_USERNAME and INFLUX_PASSWORD, or by INFLUX_TOKEN")
	case u.RawQuery != "" || u.Fragment != "":
		return c, errors.New("INFLUX has more than an address and a path; give a base URL such as " + DefaultURL +
			", and the database by INFLUX_DATABASE")
	}
	return c, nil
}
