// SPDX-License-Identifier: AGPL-3.0-only

package connect

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"windtunnel/k6/internal/environment"
)

// made is a certificate with its key, also in PEM.
type made struct {
	cert      *x509.Certificate
	key       *ecdsa.PrivateKey
	pem, file []byte
}

// issue makes a certificate, signed by an authority or self-signed.
func issue(t *testing.T, by *made, change func(*x509.Certificate)) made {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "system"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.ParseIP("127.0.0.1")}}
	change(own)
	parent, signer := own, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, own, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return made{cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})}
}

func serve(t *testing.T, m made, clients *x509.CertPool) string {
	t.Helper()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{m.cert.Raw}, PrivateKey: m.key}}}
	if clients != nil {
		server.TLS.ClientAuth, server.TLS.ClientCAs = tls.RequireAndVerifyClientCert, clients
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

func asAuthority(c *x509.Certificate) {
	c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
	c.Subject.CommonName = "an authority of mine"
}

// Each fault of a certificate has its own fix.
func TestMend(t *testing.T) {
	as := func(*x509.Certificate) {}
	authority := issue(t, nil, asAuthority)
	trusted := x509.NewCertPool()
	trusted.AddCert(authority.cert)
	for name, c := range map[string]struct {
		of      made
		clients *x509.CertPool
		tls     *environment.TLS
		want    string
	}{
		"self-signed":       {of: issue(t, nil, as), want: "its certificate is self-signed: give that certificate as tls.ca, or set tls.insecure"},
		"private authority": {of: issue(t, &authority, as), want: `its certificate is signed by "CN=an authority of mine", which this machine does not trust: give that authority's certificate as tls.ca`},
		"no SAN":            {of: issue(t, nil, func(c *x509.Certificate) { c.IPAddresses = nil }), want: "has no subject alternative name (SAN): reissue the certificate with the SAN 127.0.0.1"},
		"expired":           {of: issue(t, nil, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }), want: "its certificate expired on "},
		"another name":      {of: issue(t, nil, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"panel.example"} }), want: "is for panel.example, not 127.0.0.1: set tls.server_name"},
		"client demanded":   {of: issue(t, nil, as), clients: trusted, tls: &environment.TLS{Insecure: true}, want: "the server requires a client certificate: set tls.client_cert and tls.client_key"},
		"insecure":          {of: issue(t, nil, as), tls: &environment.TLS{Insecure: true}, want: ""},
	} {
		own, err := of(Asked{URL: serve(t, c.of, c.clients), TLS: c.tls})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.tls == nil {
			if got := Remedy(own.URL); !strings.Contains(got, c.want) {
				t.Errorf("%s: %q of its URL alone, want %q", name, got, c.want)
			}
		}
		if got := own.mend(time.Now()); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestTLSIsAnOptionAParameterAndANote(t *testing.T) {
	folder := t.TempDir()
	own := issue(t, nil, func(c *x509.Certificate) { c.DNSNames = []string{"panel.example"} })
	for name, content := range map[string][]byte{"ca.pem": own.pem, "cert.pem": own.pem, "key.pem": own.file, "text": []byte("no PEM")} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"SSL_CERT_FILE", "HTTP_PROXY", "HTTPS_PROXY"} {
		t.Setenv(name, "")
	}
	c, err := of(Asked{URL: "https://127.0.0.1:8443/base", Folder: folder,
		TLS: &environment.TLS{CA: "ca.pem", ServerName: "panel.example", Insecure: true, ClientCert: "cert.pem", ClientKey: "key.pem"}})
	if err != nil {
		t.Fatal(err)
	}
	if c.URL != "https://panel.example:8443/base" || c.From != "https://127.0.0.1:8443/base" {
		t.Errorf("%s from %s", c.URL, c.From)
	}
	if hosts := c.Options["hosts"].(map[string]string); hosts["panel.example:8443"] != "127.0.0.1:8443" {
		t.Errorf("%v", hosts)
	}
	if os.Getenv("SSL_CERT_FILE") != filepath.Join(folder, "ca.pem") || c.Options["insecureSkipTLSVerify"] != true {
		t.Errorf("%q %v", os.Getenv("SSL_CERT_FILE"), c.Options["insecureSkipTLSVerify"])
	}
	said := c.Parameters["tls"] + strings.Join(c.Notes, "")
	for _, want := range []string{"ca ", "server_name panel.example", "insecure", "client certificate", "no certificate was verified"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q lacks %q", said, want)
		}
	}
	if strings.Contains(said, "PRIVATE") {
		t.Error("a key is told")
	}
	for want, wrong := range map[string]Asked{
		"tls: the URL http://127.0.0.1 does not begin with https": {URL: "http://127.0.0.1", TLS: &environment.TLS{Insecure: true}},
		"tls.ca: none.pem: no such file":                          {URL: "https://127.0.0.1", TLS: &environment.TLS{CA: "none.pem"}},
		"tls.ca: text holds no certificate":                       {URL: "https://127.0.0.1", TLS: &environment.TLS{CA: "text"}},
		"tls.client_cert and tls.client_key: ":                    {URL: "https://127.0.0.1", TLS: &environment.TLS{ClientCert: "key.pem", ClientKey: "cert.pem"}},
		"proxy: k6 uses no proxy for this machine (127.0.0.1)":    {URL: "http://127.0.0.1", Proxy: "http://127.0.0.1:3128"},
		"the proxy would resolve panel.example itself":            {URL: "https://192.0.2.1", Proxy: "http://192.0.2.2:3128", TLS: &environment.TLS{ServerName: "panel.example"}},
	} {
		wrong.Folder = folder
		if _, err := of(wrong); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A system only at ::1 is reached by the name localhost, for which k6 would use 127.0.0.1.
func TestAllAddressesOfANameAreTried(t *testing.T) {
	listener, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no ::1")
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	url := "http://localhost:" + port
	c, err := of(Asked{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	if hosts, _ := c.Options["hosts"].(map[string]string); hosts["localhost:"+port] != "[::1]:"+port || len(c.Notes) != 1 {
		t.Errorf("%v %v", c.Options, c.Notes)
	}
	_ = listener.Close()
	c, err = of(Asked{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	if want := "127.0.0.1:" + port + ", [::1]:" + port; c.Tried != want || len(c.Options) > 0 {
		t.Errorf("tried %q, want %q; %v", c.Tried, want, c.Options)
	}
}

// TLS of a SOCKS5 proxy is for the sidecar's probes alone: this process trusts nobody else by it.
func TestTLSOfASOCKSProxy(t *testing.T) {
	t.Setenv("SSL_CERT_FILE", "")
	folder := t.TempDir()
	authority := issue(t, nil, asAuthority)
	if err := os.WriteFile(filepath.Join(folder, "ca.pem"), authority.pem, 0o600); err != nil {
		t.Fatal(err)
	}
	leaf := issue(t, &authority, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"proxy.example"} })
	at := strings.Replace(serve(t, leaf, nil), "https", "socks5", 1)
	c, err := of(Asked{URL: at, Folder: folder, TLS: &environment.TLS{CA: "ca.pem", ServerName: "proxy.example"}})
	if err != nil {
		t.Fatal(err)
	}
	if c.URL != at || len(c.Options) > 0 || os.Getenv("SSL_CERT_FILE") != "" {
		t.Errorf("%s %v %q", c.URL, c.Options, os.Getenv("SSL_CERT_FILE"))
	}
	if c.Wrap == nil || c.Wrap.CA != string(authority.pem) || c.Wrap.ServerName != "proxy.example" {
		t.Errorf("%+v", c.Wrap)
	}
	if got := c.mend(time.Now()); got != "" {
		t.Errorf("%q of a proxy that is right", got)
	}
	own := c.Parameters["tls"]
	if fresh, err := of(Asked{URL: at, Folder: folder, Fresh: true, TLS: &environment.TLS{CA: "ca.pem"}}); err != nil || fresh.Parameters["tls"] != "ca of the testbed" {
		t.Errorf("%v %v", fresh, err)
	}
	if !strings.HasPrefix(own, "ca ") || !strings.HasSuffix(own, ", server_name proxy.example") {
		t.Errorf("%q", own)
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plain.Close() })
	go func() {
		for {
			conn, err := plain.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
		}
	}()
	for want, asked := range map[string]Asked{
		"the server uses TLS: add tls to the system in the environment":                 {URL: at},
		"the server's certificate is for proxy.example, not 127.0.0.1: set tls.server_": {URL: at, Folder: folder, TLS: &environment.TLS{CA: "ca.pem"}},
		"the server does not use TLS: remove tls from the environment":                  {URL: "socks5://" + plain.Addr().String(), TLS: &environment.TLS{Insecure: true}},
	} {
		c, err := of(asked)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.mend(time.Now()); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Remedy("socks5://" + plain.Addr().String()); got != "" {
		t.Errorf("%q of a proxy without TLS that nobody asked for any", got)
	}
}
