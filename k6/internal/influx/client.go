// SPDX-License-Identifier: AGPL-3.0-only

package influx

import (
	"bytes"
	"context"
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
)

// Timeout bounds one request.
const Timeout = 2 * time.Second

// client posts batches to one server.
type client struct {
	config Config
	write  string
	http   *http.Client
}

func newClient(c Config) *client {
	query := url.Values{"db": {c.Database}, "precision": {"s"}}
	return &client{config: c, write: c.URL + "/write?" + query.Encode(), http: &http.Client{
		Timeout:       Timeout,
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// trouble is why points were not written, as one line with its mend. Refused says that the same points
// would be refused again.
type trouble struct {
	line    string
	refused bool
}

// post writes gzip'd lines; nil is success.
func (c *client) post(ctx context.Context, body []byte) *trouble {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.write, bytes.NewReader(body))
	if err != nil {
		return &trouble{line: c.config.name() + " cannot be asked; mend INFLUX"}
	}
	req.Header.Set("Content-Encoding", "gzip")
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	c.config.authorize(req)
	resp, err := c.http.Do(req)
	if err != nil {
		return &trouble{line: c.silence(err)}
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode == http.StatusNoContent {
		return nil
	}
	return c.refusal(resp.StatusCode, data)
}

func (c Config) name() string { return "InfluxDB at " + c.URL }

// Place is where it writes to, in words.
func (c Config) Place() string { return c.URL + ", database " + c.Database }

func (c Config) authorize(req *http.Request) {
	switch {
	case c.token != "":
		req.Header.Set("Authorization", "Token "+c.token)
	case c.password != "":
		req.SetBasicAuth(c.Username, c.password)
	}
}

// silence says why there was no answer.
func (c *client) silence(err error) string {
	var dns *net.DNSError
	var timeout net.Error
	const start = "start it (`make up` or `make influx`), or unset INFLUX"
	switch {
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.Canceled):
		return fmt.Sprintf("%s does not answer within %v; see what keeps it busy, or unset INFLUX", c.config.name(), Timeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		return c.config.name() + " refuses connections; " + start
	case errors.As(err, &dns):
		return c.config.name() + ": there is no such host; mend INFLUX"
	}
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		err = urlErr.Err
	}
	return fmt.Sprintf("%s does not answer (%s); %s", c.config.name(), oneLine(err.Error()), start)
}

// refusal says what an answer other than 204 means.
func (c *client) refusal(status int, body []byte) *trouble {
	name, reason := c.config.name(), saidBy(body)
	told := fmt.Sprintf("%d", status)
	if reason != "" {
		told += ": " + reason
	}
	switch {
	case status == http.StatusUnauthorized && c.config.token == "" && c.config.password == "":
		return &trouble{line: fmt.Sprintf("%s wants a login (%s); set INFLUX_PASSWORD or INFLUX_TOKEN", name, told)}
	case status == http.StatusUnauthorized:
		return &trouble{line: fmt.Sprintf("%s refuses the login (%s); mend INFLUX_USERNAME and INFLUX_PASSWORD, or INFLUX_TOKEN", name, told)}
	case status == http.StatusForbidden:
		return &trouble{line: fmt.Sprintf("%s lets nothing be written to the database %s (%s); grant it to the login", name, c.config.Database, told)}
	case status == http.StatusNotFound:
		return &trouble{line: fmt.Sprintf("%s has no database %s (%s); make it, or mend INFLUX_DATABASE", name, c.config.Database, told)}
	case status == http.StatusRequestEntityTooLarge:
		return &trouble{refused: true, line: fmt.Sprintf("%s finds a second's points too long (%s); raise its max-body-size", name, told)}
	case status == http.StatusBadRequest:
		return &trouble{refused: true, line: fmt.Sprintf("%s refuses points (%s); give a database of its own by INFLUX_DATABASE", name, told)}
	case status == http.StatusTooManyRequests || status >= 500:
		return &trouble{line: fmt.Sprintf("%s cannot write (%s); see its log and the disk that it writes to", name, told)}
	}
	return &trouble{line: fmt.Sprintf("%s answers as no InfluxDB does (%s); mend INFLUX", name, told)}
}

// saidBy is the reason in an answer, in one line; "" where it holds none.
func saidBy(body []byte) string {
	var answer struct{ Error, Message string }
	if json.Unmarshal(body, &answer) != nil {
		return ""
	}
	text := []rune(oneLine(strings.TrimSpace(answer.Error + " " + answer.Message)))
	return string(text[:min(len(text), 200)])
}

// Answers reports whether a server is up at the address, whoever may use it.
func (c Config) Answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+"/ping", nil)
	if err != nil {
		return false
	}
	c.authorize(req)
	cl := newClient(c).http
	defer cl.CloseIdleConnections()
	resp, err := cl.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode/100 == 2 || resp.StatusCode == http.StatusUnauthorized
}
