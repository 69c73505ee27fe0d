// SPDX-License-Identifier: AGPL-3.0-only

// Package connect decides how k6 reaches a system: by which address, through which proxy, and with which TLS. Each decision is an
// option of k6's, and a parameter of the result or a note, so that none is silent. For a SOCKS5 proxy it decides TLS alone: the
// sidecar's probes dial.
package connect

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"

	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/root"
)

// Asked is an environment's configuration of a system's connection. Folder is the folder of the environment file.
type Asked struct {
	URL    string           `json:"url"`
	TLS    *environment.TLS `json:"tls"`
	Proxy  string           `json:"proxy"`
	Folder string           `json:"folder"`
	// Fresh says that TLS is of a testbed, which makes its certificate anew at each start.
	Fresh bool `json:"fresh"`
}

// Wrap is the TLS of a SOCKS5 proxy as the sidecar takes it (sidecar/README.md): files are their content.
type Wrap struct {
	CA         string `json:"ca,omitempty"`
	ServerName string `json:"server_name,omitempty"`
	Insecure   bool   `json:"insecure,omitempty"`
	ClientCert string `json:"client_cert,omitempty"`
	ClientKey  string `json:"client_key,omitempty"`
}

// Connection says how to reach a system.
type Connection struct {
	// URL is the URL of requests, From the URL of the environment. They differ if the certificate has another name.
	URL  string
	From string
	// Options are options of k6.
	Options map[string]any
	// Parameters decide whether two runs can be compared.
	Parameters map[string]string
	Notes      []string
	// Tried are the addresses of the system's name, for a message that none answered; "" of an address.
	Tried string
	// Wrap is of a SOCKS5 proxy alone, nil without TLS.
	Wrap *Wrap

	address string // HOST:PORT to dial
	name    string // name that the certificate must have
	asked   Asked
	keys    keys
}

// socks is the scheme of a SOCKS5 proxy.
const socks = "socks5"

var (
	mu    sync.Mutex
	known = map[string]*Connection{} // by configuration; each VU calls Of again
)

// Of decides how to reach the system. It sets this process's proxy and trusted certificates, and tries the addresses of
// a name, once per process. The error is one line.
func Of(a Asked) (*Connection, error) {
	mu.Lock()
	defer mu.Unlock()
	id := fmt.Sprintf("%q %q %q %v %+v", a.URL, a.Proxy, a.Folder, a.Fresh, a.TLS)
	if c, ok := known[id]; ok {
		return c, nil
	}
	c, err := of(a)
	if err != nil {
		return nil, err
	}
	known[id] = c
	return c, nil
}

func of(a Asked) (*Connection, error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return nil, err
	}
	c := &Connection{URL: a.URL, From: a.URL, Options: map[string]any{}, Parameters: map[string]string{}, Notes: []string{}, asked: a, name: u.Hostname()}
	if u.Scheme == socks {
		c.address = u.Host
		return c, c.wrap()
	}
	if err := c.useProxy(u); err != nil {
		return nil, err
	}
	at := reached{}
	if a.Proxy == "" {
		at = reach(u.Hostname(), portOf(u))
		c.Tried = at.tried
		c.pin(u, at)
	}
	c.address = net.JoinHostPort(at.ip(u.Hostname()), portOf(u))
	return c, c.useTLS(u, at)
}

// portOf is a URL's port, or the default port of its scheme.
func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// useProxy sends all requests of this process through the proxy.
func (c *Connection) useProxy(u *url.URL) error {
	proxy := c.asked.Proxy
	if proxy == "" {
		return nil
	}
	if environment.IsLoopback(u.Hostname()) {
		return fmt.Errorf("proxy: k6 uses no proxy for this machine (%s); remove proxy", u.Hostname())
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		if err := os.Setenv(name, proxy); err != nil {
			return err
		}
	}
	c.Parameters["proxy"] = proxy
	c.Notes = append(c.Notes, "requests went through the proxy "+proxy)
	return nil
}

// pin makes k6 use an address that answers, if some addresses of a name do not: k6 tries only one.
func (c *Connection) pin(u *url.URL, at reached) {
	if !at.pinned {
		return
	}
	c.host(u.Hostname(), portOf(u), at.ip(""))
	c.Notes = append(c.Notes, fmt.Sprintf("%s was reached at %s, because some of its addresses did not answer (%s)", u.Hostname(), at.ip(""), at.results))
}

// host sets the address of a name for k6.
func (c *Connection) host(name, port, ip string) {
	c.Options["hosts"] = map[string]string{net.JoinHostPort(name, port): net.JoinHostPort(ip, port)}
}

// useTLS sets the certificates that k6 trusts, and k6's own certificate.
func (c *Connection) useTLS(u *url.URL, at reached) error {
	t := c.asked.TLS
	if t == nil {
		return nil
	}
	if u.Scheme != "https" {
		return fmt.Errorf("tls: the URL %s does not begin with https", c.asked.URL)
	}
	files, err := read(t, c.asked.Folder)
	if err != nil {
		return err
	}
	c.keys = files
	if t.CA != "" {
		if err := os.Setenv("SSL_CERT_FILE", root.Absolute(t.CA, c.asked.Folder)); err != nil {
			return err
		}
	}
	if t.ServerName != "" {
		if err := c.nameServer(u, at); err != nil {
			return err
		}
	}
	if t.Insecure {
		c.Options["insecureSkipTLSVerify"] = true
	}
	if t.ClientCert != "" {
		c.Options["tlsAuth"] = []map[string]string{{"cert": string(files.cert), "key": string(files.key)}}
	}
	c.sayTLS()
	return nil
}

// sayTLS makes TLS a parameter, and a note where nobody is verified.
func (c *Connection) sayTLS() {
	t := c.asked.TLS
	var said []string
	if t.CA != "" {
		sum := sha256.Sum256(c.keys.ca)
		of := hex.EncodeToString(sum[:6])
		if c.asked.Fresh {
			of = "of the testbed"
		}
		said = append(said, "ca "+of)
	}
	if t.ServerName != "" {
		said = append(said, "server_name "+t.ServerName)
	}
	if t.Insecure {
		c.Notes = append(c.Notes, "TLS: no certificate was verified (tls.insecure), so another server could have answered")
		said = append(said, "insecure")
	}
	if t.ClientCert != "" {
		said = append(said, "client certificate")
	}
	c.Parameters["tls"] = strings.Join(said, ", ")
}

// wrap reads TLS of a SOCKS5 proxy. It has an effect on no other connection.
func (c *Connection) wrap() (err error) {
	t := c.asked.TLS
	if t == nil {
		return nil
	}
	if c.keys, err = read(t, c.asked.Folder); err != nil {
		return err
	}
	if t.ServerName != "" {
		c.name = t.ServerName
	}
	c.Wrap = &Wrap{CA: string(c.keys.ca), ServerName: t.ServerName, Insecure: t.Insecure, ClientCert: string(c.keys.cert), ClientKey: string(c.keys.key)}
	c.sayTLS()
	return nil
}

// nameServer makes requests use the name in the system's certificate, and makes k6 resolve that name to the system's
// address.
func (c *Connection) nameServer(u *url.URL, at reached) error {
	name := c.asked.TLS.ServerName
	if c.asked.Proxy != "" {
		return fmt.Errorf("tls.server_name: the proxy would resolve %s itself; remove proxy or server_name", name)
	}
	ip := at.ip("")
	if ip == "" {
		return fmt.Errorf("%s does not resolve to an address (%s): check the name", u.Hostname(), at.results)
	}
	c.host(name, portOf(u), ip)
	c.name = name
	named := *u
	named.Host = name
	if port := u.Port(); port != "" {
		named.Host = net.JoinHostPort(name, port)
	}
	c.URL = named.String()
	return nil
}

// keys are the contents of the files in an environment's tls.
type keys struct{ ca, cert, key []byte }

// Check says what is wrong with the files of tls, nil if they are right.
func Check(t *environment.TLS, folder string) error {
	if t == nil {
		return nil
	}
	_, err := read(t, folder)
	return err
}

func read(t *environment.TLS, folder string) (k keys, err error) {
	for _, file := range []struct {
		field, path string
		into        *[]byte
	}{{"ca", t.CA, &k.ca}, {"client_cert", t.ClientCert, &k.cert}, {"client_key", t.ClientKey, &k.key}} {
		if file.path == "" {
			continue
		}
		if *file.into, err = os.ReadFile(root.Absolute(file.path, folder)); err != nil {
			return k, fmt.Errorf("tls.%s: %s: %w; relative paths start in the environment file's folder", file.field, file.path, exit.Reason(err))
		}
	}
	if t.CA != "" && !x509.NewCertPool().AppendCertsFromPEM(k.ca) {
		return k, fmt.Errorf("tls.ca: %s holds no certificate in PEM", t.CA)
	}
	if t.ClientCert == "" {
		return k, nil
	}
	if isEncrypted(k.key) {
		return k, fmt.Errorf("tls.client_key: %s is encrypted; give a key without a password, such as by openssl pkey -in FILE -out PLAIN", t.ClientKey)
	}
	if _, err := tls.X509KeyPair(k.cert, k.key); err != nil {
		return k, fmt.Errorf("tls.client_cert and tls.client_key: %s", strings.TrimPrefix(err.Error(), "tls: "))
	}
	return k, nil
}

func isEncrypted(key []byte) bool {
	block, _ := pem.Decode(key)
	return block != nil && (block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"))
}
