// SPDX-License-Identifier: AGPL-3.0-only

// Package environment reads the addresses of systems and their logins.
package environment

import (
	"cmp"
	"encoding/json"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"windtunnel/k6/internal/seq"
)

// Environment is the content of environments/NAME.json.
type Environment struct {
	Name    string            `json:"name"`
	Systems map[string]System `json:"systems"`
}

// System is the address of one system: URL, or the Testbed that starts it, or one of Testbeds for some scenarios. Only
// probed systems have Placement and Target. Only the panel has User and DatabaseEnv (the variable with its database's
// URL, which may be unset).
type System struct {
	URL      string                `json:"url"`
	Testbed  *TestbedRef           `json:"testbed"`
	Testbeds map[string]TestbedRef `json:"testbeds"`
	Auth     Auth                  `json:"auth"`
	// TLS is of https, and of the data plane's SOCKS5 proxy. Proxy is of systems that k6 itself speaks to.
	TLS         *TLS      `json:"tls"`
	Proxy       string    `json:"proxy"`
	Placement   Placement `json:"placement"`
	Target      Target    `json:"target"`
	User        User      `json:"user"`
	DatabaseEnv string    `json:"database_env"`
	// Settings are for the scripts of the user's own system, which know them.
	Settings map[string]any `json:"settings"`
	// Thresholds are bounds by scenario and operation.
	Thresholds map[string]map[string]any `json:"thresholds"`
}

// TLS says whom a client of an https system, or of a SOCKS5 proxy in TLS, trusts and who it is. Paths are absolute or relative to the environment file's folder.
type TLS struct {
	CA         string `json:"ca"`
	ServerName string `json:"server_name"`
	Insecure   bool   `json:"insecure"`
	ClientCert string `json:"client_cert"`
	ClientKey  string `json:"client_key"`
}

// TestbedOf returns the testbed of a scenario, nil if the system is up already.
func (s System) TestbedOf(scenario string) *TestbedRef {
	if own, ok := s.Testbeds[scenario]; ok {
		return &own
	}
	return s.Testbed
}

// User has the properties of each created user of a panel: settings and tags of inbounds by protocol.
type User struct {
	Proxies  map[string]any      `json:"proxies"`
	Inbounds map[string][]string `json:"inbounds"`
}

// Target is the address that clients reach through the proxy, HOST:PORT; "" is an echo of the sidecar.
type Target struct {
	TCP string `json:"tcp"`
	UDP string `json:"udp"`
}

// TestbedRef names a testbed file and gives values for its variables.
type TestbedRef struct {
	Name      string         `json:"name"`
	Variables map[string]any `json:"variables"`
}

// Auth names the environment variables that hold the secrets, never the secrets.
type Auth struct {
	Mode        string `json:"mode"`
	PasswordEnv string `json:"password_env"`
	TokenEnv    string `json:"token_env"`
}

// Secrets returns the names of the environment variables whose values the authentication needs.
func (a Auth) Secrets() []string {
	switch a.Mode {
	case "login", "password":
		return []string{a.PasswordEnv}
	case "token":
		return []string{a.TokenEnv}
	}
	return nil
}

// Ending is a suspicious end of a secret; Never says that it cannot be intended.
type Ending struct {
	What  string `js:"what"`
	Never bool   `js:"never"`
}

// EndsBadly returns the end that a file or a copy has added to a secret. The field What is "" for a normal end.
func EndsBadly(secret string) Ending {
	switch {
	case strings.HasSuffix(secret, "\r\n"):
		return Ending{"a carriage return and a line feed", true}
	case strings.HasSuffix(secret, "\n"):
		return Ending{"a line feed", true}
	case strings.HasSuffix(secret, "\r"):
		return Ending{"a carriage return", true}
	case strings.HasSuffix(secret, " "), strings.HasSuffix(secret, "\t"):
		return Ending{"a space", false}
	}
	return Ending{}
}

// URLVariable is the variable that overrides the URL in an environment; UsernameVariable overrides the user name.
func URLVariable(system string) string      { return strings.ToUpper(system) + "_URL" }
func UsernameVariable(system string) string { return strings.ToUpper(system) + "_USERNAME" }

// Secrets returns the names of the environment variables whose values no output may contain.
func (s System) Secrets() []string {
	secrets := s.Auth.Secrets()
	if s.DatabaseEnv != "" {
		secrets = append(secrets, s.DatabaseEnv)
	}
	return secrets
}

// Secrets returns these names for all systems.
func (e Environment) Secrets() (names []string) {
	for _, system := range e.Systems {
		names = append(names, system.Secrets()...)
	}
	return names
}

// Names returns the names of the systems, sorted.
func (e Environment) Names() []string { return slices.Sorted(maps.Keys(e.Systems)) }

// RemoteHosts returns the hosts (without port) other than this machine that get a system's load: of the system, its
// proxy and its target.
func (s System) RemoteHosts() []string {
	addresses := []string{s.URL, s.Proxy, "socks5://" + s.Target.TCP, "socks5://" + s.Target.UDP}
	return seq.Distinct(seq.Given(seq.Map(addresses, remoteHost)))
}

func remoteHost(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if host := u.Hostname(); !IsLoopback(host) {
		return host
	}
	return ""
}

// IsLoopback reports whether a host, without port, is this machine; an IPv6 address may be in brackets.
func IsLoopback(host string) bool {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Placements lists the names of the placements.
func Placements() []string { return []string{"shared", "split", "free"} }

// Placement names the CPUs for probe, echo and system: one name for all scenarios, or one name by scenario, with
// `default` for the others.
type Placement map[string]string

const defaultPlacement = "default"

// UnmarshalJSON reads a name or an object of names.
func (p *Placement) UnmarshalJSON(data []byte) error {
	var name string
	if json.Unmarshal(data, &name) == nil {
		*p = Placement{defaultPlacement: name}
		return nil
	}
	return json.Unmarshal(data, (*map[string]string)(p))
}

// Of returns the placement of a scenario; the default is shared.
func (p Placement) Of(scenario string) string {
	return cmp.Or(p[scenario], p[defaultPlacement], Placements()[0])
}

// Scenarios returns the scenarios with a separate placement, sorted.
func (p Placement) Scenarios() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p)), func(name string) bool { return name == defaultPlacement })
}

// DatabaseURL has the needed parts of a database's URL in SQLAlchemy's form:
// DIALECT[+DRIVER]://USER:PASSWORD@HOST:PORT/NAME.
type DatabaseURL struct {
	dialect, host string
}

// databaseURL is SQLAlchemy's expression without an @ in the host: such an @ is an unescaped @ of the password.
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
