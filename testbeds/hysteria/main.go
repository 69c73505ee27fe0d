// SPDX-License-Identifier: AGPL-3.0-only

// Command hysteria runs the core of hysteria 2, as client or as server. hysteria's own program is a module that not every proxy of Go
// modules has, and the core has no SOCKS. sing's SOCKS stands before the client.
//
//	hysteria client|server FILE
//	hysteria version
package main

import (
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"

	"github.com/apernet/hysteria/core/v2/client"
	"github.com/apernet/hysteria/core/v2/server"
)

const core = "github.com/apernet/hysteria/core/v2"

// config is what FILE has, in JSON.
type config struct {
	// Listen is where the client takes SOCKS 5, or where the server takes QUIC, HOST:PORT.
	Listen string `json:"listen"`
	// Server is where the client connects to, HOST:PORT.
	Server string `json:"server"`
	// ServerName is what the client asks the server to be, by its certificate.
	ServerName string `json:"server_name"`
	// Certificate is PEM: the server's own, and the only one that the client trusts.
	Certificate string `json:"certificate"`
	// Key is the server's private key, PEM.
	Key      string `json:"key"`
	Password string `json:"password"`
	// Mbps is the rate that Brutal sends at, each way, Mbit/s; 0: BBR finds the rate.
	Mbps uint64 `json:"mbps"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "hysteria:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 1 && args[0] == "version" {
		return version()
	}
	if len(args) != 2 {
		return errors.New("usage: hysteria client|server FILE, or hysteria version")
	}
	text, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	var c config
	if err := json.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	switch args[0] {
	case "client":
		return c.client()
	case "server":
		return c.server()
	}
	return fmt.Errorf("there is no end %q", args[0])
}

// version prints the version of the core.
func version() error {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == core {
				fmt.Println(module.Version[1:])
				return nil
			}
		}
	}
	return errors.New("the program does not say which core it was built from")
}

// bytes is the rate in the core's unit, bytes per second.
func (c *config) bytes() uint64 { return c.Mbps * 125_000 }

func (c *config) client() error {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(c.Certificate)) {
		return errors.New("configuration: certificate is no PEM")
	}
	address, err := net.ResolveUDPAddr("udp", c.Server)
	if err != nil {
		return err
	}
	// Lazy: the client also takes SOCKS while no server runs, as other programs do.
	hop, err := client.NewReconnectableClient(func() (*client.Config, error) {
		return &client.Config{
			ServerAddr:      address,
			Auth:            c.Password,
			TLSConfig:       client.TLSConfig{ServerName: c.ServerName, RootCAs: roots},
			BandwidthConfig: client.BandwidthConfig{MaxTx: c.bytes(), MaxRx: c.bytes()},
		}, nil
	}, nil, true)
	if err != nil {
		return err
	}
	return serveSocks(c.Listen, hop)
}

func (c *config) server() error {
	pair, err := tls.X509KeyPair([]byte(c.Certificate), []byte(c.Key))
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	conn, err := net.ListenPacket("udp", c.Listen)
	if err != nil {
		return err
	}
	// The hop is UDP. This only says by taking TCP that the server is up.
	up, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	go sayUp(up)
	hop, err := server.NewServer(&server.Config{
		TLSConfig:       server.TLSConfig{Certificates: []tls.Certificate{pair}},
		Conn:            conn,
		BandwidthConfig: server.BandwidthConfig{MaxTx: c.bytes(), MaxRx: c.bytes()},
		Authenticator:   password(c.Password),
	})
	if err != nil {
		return err
	}
	return hop.Serve()
}

func sayUp(up net.Listener) {
	for {
		conn, err := up.Accept()
		if err != nil {
			return
		}
		_ = conn.Close()
	}
}

// password is the one that clients must have.
type password string

// Authenticate is called by the core for each connection.
func (p password) Authenticate(_ net.Addr, given string, _ uint64) (ok bool, id string) {
	return subtle.ConstantTimeCompare([]byte(given), []byte(p)) == 1, "windtunnel"
}
