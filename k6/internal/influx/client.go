// SPDX-License-Identifier: AGPL-3.0-only

package influx

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"windtunnel/k6/internal/variables"
)

// Timeout bounds one request.
const Timeout = 2 * time.Second

type client struct {
	config Config
	write  string
	http   *http.Client
}

func newClient(c Config) *client {
	query := url.Values{"db": {c.Database}, "precision": {"ms"}}
	return &client{config: c, write: c.URL + "/write?" + query.Encode(), http: &http.Client{
		Timeout:       Timeout,
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// trouble is one line about why points were not written, and how to fix it. Refused says that the server would reject
// the same points again. Otherwise, again is when to try again.
type trouble struct {
	line    string
	refused bool
	again   time.Duration
}

// passing is trouble that may end soon. lasting is trouble that a person must fix. refused is trouble with these points
// only.
func passing(format string, args ...any) *trouble {
	return &trouble{line: fmt.Sprintf(format, args...), again: retryEvery}
}

func lasting(format string, args ...any) *trouble {
	return &trouble{line: fmt.Sprintf(format, args...), again: refusedEvery}
}

func refused(format string, args ...any) *trouble {
	return &trouble{line: fmt.Sprintf(format, args...), refused: true}
}

// post writes gzipped lines; nil is success.
func (c *client) post(ctx context.Context, body []byte) *trouble {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.write, bytes.NewReader(body))
	if err != nil {
		return lasting("%s is not a valid URL; fix INFLUX", c.config.name())
	}
	req.Header.Set("Content-Encoding", "gzip")
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	c.config.authorize(req)
	resp, err := c.http.Do(req)
	if err != nil {
		return passing("%s", c.silence(err))
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode == http.StatusNoContent {
		return nil
	}
	return c.refusal(resp.StatusCode, data)
}

func (c Config) name() string { return "InfluxDB at " + c.URL }

// Place describes where points are written.
func (c Config) Place() string { return c.URL + ", database " + c.Database }

func (c Config) authorize(req *http.Request) {
	switch {
	case c.token != "":
		req.Header.Set("Authorization", "Token "+c.token)
	case c.password != "":
		req.SetBasicAuth(c.Username, c.password)
	}
}

// variable is the variable to unset to stop streaming.
func (c Config) variable() string {
	if c.Given {
		return VariableURL
	}
	return VariablePassword
}

// slow says that the server accepts points, but too slowly.
func (c *client) slow() string {
	return fmt.Sprintf("%s needs more than a second to store a second's points; find its load, or unset %s",
		c.config.name(), c.config.variable())
}

// silence says why there was no answer.
func (c *client) silence(err error) string {
	var dns *net.DNSError
	var timeout net.Error
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	name, unset := c.config.name(), "unset "+c.config.variable()
	start := "start it (`make up` or `make influx`), or " + unset
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		err = urlErr.Err
	}
	switch {
	case errors.As(err, &certificate):
		return fmt.Sprintf("%s has a certificate that is not trusted here (%s); let SSL_CERT_FILE name its authority, or fix INFLUX", name, oneLine(err.Error()))
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return name + " speaks no TLS; give INFLUX with http://"
	case errors.As(err, &alert), strings.Contains(err.Error(), "tls: "):
		return fmt.Sprintf("%s: the TLS handshake failed (%s); fix its certificate and TLS settings, or INFLUX", name, oneLine(err.Error()))
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.Canceled):
		return fmt.Sprintf("%s does not answer within %v; see what keeps it busy, or %s", name, Timeout, unset)
	case errors.Is(err, syscall.ECONNREFUSED):
		return name + " refuses connections; " + start
	case errors.As(err, &dns):
		return name + ": there is no such host; fix INFLUX"
	}
	return fmt.Sprintf("%s does not answer (%s); %s", name, oneLine(err.Error()), start)
}

// wantsTLS is the answer of Go's servers, such as InfluxDB, to plain HTTP on an HTTPS port, with status 400.
const wantsTLS = "Client sent an HTTP request to an HTTPS server"

func (c *client) refusal(status int, body []byte) *trouble {
	name, reason := c.config.name(), reasonIn(body)
	detail := fmt.Sprintf("%d", status)
	if reason != "" {
		detail += ": " + reason
	}
	switch {
	case status == http.StatusUnauthorized && c.config.token == "" && c.config.password == "":
		return lasting("%s wants a login (%s); set INFLUX_PASSWORD or INFLUX_TOKEN", name, detail)
	case status == http.StatusUnauthorized:
		return lasting("%s refuses the login (%s); fix INFLUX_USERNAME and INFLUX_PASSWORD, or INFLUX_TOKEN", name, detail)
	case status == http.StatusForbidden:
		return lasting("%s does not let the login write to the database %s (%s); grant write access", name, c.config.Database, detail)
	case status == http.StatusNotFound:
		return lasting("%s has no database %s (%s); make it, or fix INFLUX_DATABASE", name, c.config.Database, detail)
	case status == http.StatusBadRequest && bytes.Contains(body, []byte(wantsTLS)):
		return lasting("%s speaks TLS; give INFLUX with https://", name)
	case status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500:
		return passing("%s cannot write (%s); see its log and the disk that it writes to", name, detail)
	case status == http.StatusRequestEntityTooLarge:
		return refused("%s refuses a second's points as too large (%s); raise its max-body-size", name, detail)
	case status >= 400: // version 2 answers 422, version 1 answers 400
		return refused("%s refuses points (%s); give a separate database with INFLUX_DATABASE", name, detail)
	}
	return passing("%s answers as no InfluxDB does (%s); fix INFLUX", name, detail)
}

// reasonIn is the reason in an answer, as one line; "" without a reason.
func reasonIn(body []byte) string {
	var answer struct{ Error, Message string }
	if json.Unmarshal(body, &answer) != nil {
		return ""
	}
	text := []rune(oneLine(strings.TrimSpace(answer.Error + " " + answer.Message)))
	return string(text[:min(len(text), 200)])
}

// Answers reports whether an InfluxDB is up at the address, whatever the login is. The request has no login: the server
// at a default address may be any program.
func (c Config) Answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+"/ping", nil)
	if err != nil {
		return false
	}
	cl := newClient(c).http
	defer cl.CloseIdleConnections()
	resp, err := cl.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.Header.Get("X-Influxdb-Version") != ""
}

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
