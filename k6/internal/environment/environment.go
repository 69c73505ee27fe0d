// SPDX-License-Identifier: AGPL-3.0-only

// Package environment knows where systems are and how to authenticate there.
package environment

import (
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
)

// Environment is the content of environments/NAME.json.
type Environment struct {
	Name    string            `json:"name"`
	Systems map[string]System `json:"systems"`
}

// System says where one system is: at URL, or started from Testbed.
type System struct {
	URL     string      `json:"url"`
	Testbed *TestbedRef `json:"testbed"`
	Auth    Auth        `json:"auth"`
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
	case "login":
		return []string{a.PasswordEnv}
	case "token":
		return []string{a.TokenEnv}
	}
	return nil
}

// Names returns the names of the systems, sorted.
func (e Environment) Names() []string { return slices.Sorted(maps.Keys(e.Systems)) }

// RemoteHost returns the host (without port) of a system that is not on this machine, or "".
func (s System) RemoteHost() string {
	if s.URL == "" {
		return ""
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return s.URL
	}
	host := u.Hostname()
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return ""
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return ""
	}
	return host
}
