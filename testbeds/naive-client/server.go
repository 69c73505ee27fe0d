package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http2"
)

// server opens tunnels, all of them in one HTTP/2 connection.
type server struct {
	address       string
	authorization string
	transport     *http2.Transport
}

func newServer(settings config) (*server, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(strings.Join(settings.Certificate, "\n"))) {
		return nil, errors.New("certificate is not PEM")
	}
	user := base64.StdEncoding.EncodeToString([]byte(settings.Username + ":" + settings.Password))
	return &server{
		address:       settings.Server,
		authorization: "Basic " + user,
		transport: &http2.Transport{
			DisableCompression: true,
			TLSClientConfig:    &tls.Config{ServerName: settings.ServerName, RootCAs: roots},
		},
	}, nil
}

// tunnel is a CONNECT stream; what it reads and writes is without padding.
type tunnel struct {
	io.Reader
	io.Writer
	body *http.Response
	up   *io.PipeWriter
}

func (t *tunnel) closeWrite() { _ = t.up.Close() }

// Close ends both directions.
func (t *tunnel) Close() error {
	t.closeWrite()
	return t.body.Body.Close()
}

// connect opens a tunnel to target, HOST:PORT.
func (s *server) connect(target string) (*tunnel, error) {
	down, up := io.Pipe()
	response, err := s.transport.RoundTrip(&http.Request{
		Method: http.MethodConnect,
		URL:    &url.URL{Scheme: "https", Host: s.address},
		Host:   target,
		Header: http.Header{
			"Proxy-Authorization": {s.authorization},
			"Padding":             {paddingHeader()},
		},
		Body: down,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.address, err)
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("%s answered %s", s.address, response.Status)
	}
	return &tunnel{
		Reader: &paddedReader{from: response.Body},
		Writer: &paddedWriter{to: up},
		body:   response,
		up:     up,
	}, nil
}
