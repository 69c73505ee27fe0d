// SPDX-License-Identifier: AGPL-3.0-only

package connect

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/seq"
)

// Remedy says why TLS with a system fails, and how to fix it; "" if it finds no reason. It makes a handshake without
// verification. It is called only after a request has failed.
func Remedy(at string) string {
	mu.Lock()
	defer mu.Unlock()
	for _, c := range known {
		switch {
		case c.URL != at:
		case c.asked.Proxy != "": // a direct handshake would not go through the proxy
			return ""
		default:
			return c.mend(time.Now())
		}
	}
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	c := Connection{URL: at, name: u.Hostname(), address: net.JoinHostPort(u.Hostname(), portOf(u))}
	return c.mend(time.Now())
}

// plain reports whether the system is asked without TLS.
func (c *Connection) plain() bool {
	return c.asked.TLS == nil && strings.HasPrefix(c.URL, socks+":")
}

func (c *Connection) mend(now time.Time) string {
	var pair []tls.Certificate
	if len(c.keys.cert) > 0 {
		if own, err := tls.X509KeyPair(c.keys.cert, c.keys.key); err == nil {
			pair = append(pair, own)
		}
	}
	demanded := false
	config := &tls.Config{ServerName: c.name, InsecureSkipVerify: true, //nolint:gosec // this connection carries no data
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			demanded = true
			if len(pair) > 0 {
				return &pair[0], nil
			}
			return &tls.Certificate{}, nil
		}}
	dialer := &net.Dialer{Timeout: dialPatience}
	raw, err := dialer.Dial("tcp", c.address)
	if err != nil {
		return ""
	}
	defer raw.Close()
	_ = raw.SetDeadline(now.Add(2 * dialPatience))
	conn := tls.Client(raw, config)
	err = conn.Handshake()
	header := tls.RecordHeaderError{}
	switch answered := len(conn.ConnectionState().PeerCertificates) > 0; {
	case c.plain() && answered:
		return "the server uses TLS: add tls to the system in the environment"
	case c.plain():
		return ""
	case errors.As(err, &header) && strings.HasPrefix(c.URL, socks+":"):
		return "the server does not use TLS: remove tls from the environment"
	case errors.As(err, &header):
		return "the server does not use TLS: should the URL begin with http://?"
	}
	if err == nil && demanded { // in TLS 1.3 the rejection comes after the handshake
		_ = raw.SetReadDeadline(time.Now().Add(dialPatience / 2))
		_, err = conn.Read(make([]byte, 1))
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			err = nil
		}
	}
	var wrong []string
	if t := c.asked.TLS; t == nil || !t.Insecure {
		wrong = c.wrongWith(conn.ConnectionState().PeerCertificates, now)
	}
	switch {
	case err == nil || !demanded:
	case len(pair) == 0:
		wrong = append(wrong, "the server requires a client certificate: set tls.client_cert and tls.client_key")
	default:
		wrong = append(wrong, "the server refuses the client certificate: check that tls.client_cert has not expired, and that the server trusts its authority")
	}
	return strings.Join(wrong, "; ")
}

// wrongWith are the reasons not to trust a chain, each with its fix.
func (c *Connection) wrongWith(chain []*x509.Certificate, now time.Time) (wrong []string) {
	if len(chain) == 0 {
		return nil
	}
	leaf := chain[0]
	switch {
	case now.After(leaf.NotAfter):
		wrong = append(wrong, fmt.Sprintf("its certificate expired on %s: renew it", leaf.NotAfter.UTC().Format(time.DateOnly)))
	case now.Before(leaf.NotBefore):
		wrong = append(wrong, fmt.Sprintf("the server's certificate is not valid before %s: check this machine's clock", leaf.NotBefore.UTC().Format(time.DateOnly)))
	}
	if names := namesOf(leaf); len(names) == 0 {
		wrong = append(wrong, fmt.Sprintf("the server's certificate has no subject alternative name (SAN): reissue the certificate with the SAN %s, or set tls.insecure", c.name))
	} else if leaf.VerifyHostname(c.name) != nil {
		wrong = append(wrong, fmt.Sprintf("the server's certificate is for %s, not %s: set tls.server_name to a name in the certificate", strings.Join(names, ", "), c.name))
	}
	return append(wrong, c.untrusted(chain, leaf)...)
}

func (c *Connection) untrusted(chain []*x509.Certificate, leaf *x509.Certificate) []string {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	roots.AppendCertsFromPEM(c.keys.ca)
	between := x509.NewCertPool()
	for _, own := range chain[1:] {
		between.AddCert(own)
	}
	// Verify in the middle of the certificate's validity: an expired certificate has its own message.
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: leaf.NotBefore.Add(leaf.NotAfter.Sub(leaf.NotBefore) / 2)})
	if unknown := (x509.UnknownAuthorityError{}); !errors.As(err, &unknown) {
		return nil
	}
	switch {
	case len(c.keys.ca) > 0:
		return []string{fmt.Sprintf("the server's certificate is signed by %q, not by tls.ca: set tls.ca to that authority's certificate", leaf.Issuer)}
	case bytes.Equal(leaf.RawIssuer, leaf.RawSubject):
		return []string{"its certificate is self-signed: give that certificate as tls.ca, or set tls.insecure"}
	}
	return []string{fmt.Sprintf("its certificate is signed by %q, which this machine does not trust: give that authority's certificate as tls.ca", leaf.Issuer)}
}

func namesOf(leaf *x509.Certificate) []string {
	return append(slices.Clone(leaf.DNSNames), seq.Map(leaf.IPAddresses, net.IP.String)...)
}
