// Command naive-client is a NaiveProxy client: SOCKS5 CONNECT in, HTTP/2 CONNECT with padding over TLS out. sing-box
// 1.12 has this protocol as an inbound only; this drives it.
//
//	naive-client FILE
//
// FILE is JSON: listen and server (HOST:PORT), server_name, certificate (PEM, lines), username and password.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/sagernet/sing/protocol/socks/socks5"
)

type config struct {
	Listen      string   `json:"listen"`
	Server      string   `json:"server"`
	ServerName  string   `json:"server_name"`
	Certificate []string `json:"certificate"`
	Username    string   `json:"username"`
	Password    string   `json:"password"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "naive-client:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: naive-client FILE")
	}
	file, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var settings config
	if err := json.Unmarshal(file, &settings); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	server, err := newServer(settings)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	listener, err := net.Listen("tcp", settings.Listen)
	if err != nil {
		return err
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go serve(conn, server)
	}
}

// serve takes one SOCKS5 request and carries its bytes until one side has ended.
func serve(conn net.Conn, server *server) {
	defer conn.Close()
	reader := bufio.NewReader(conn)
	greeting, err := socks5.ReadAuthRequest(reader)
	if err != nil || len(greeting.Methods) == 0 {
		return
	}
	if socks5.WriteAuthResponse(conn, socks5.AuthResponse{Method: socks5.AuthTypeNotRequired}) != nil {
		return
	}
	request, err := socks5.ReadRequest(reader)
	if err != nil {
		return
	}
	if request.Command != socks5.CommandConnect {
		_ = socks5.WriteResponse(conn, socks5.Response{ReplyCode: socks5.ReplyCodeUnsupported})
		return
	}
	tunnel, err := server.connect(request.Destination.String())
	if err != nil {
		fmt.Fprintln(os.Stderr, "naive-client:", err)
		_ = socks5.WriteResponse(conn, socks5.Response{ReplyCode: socks5.ReplyCodeFailure})
		return
	}
	defer tunnel.Close()
	if socks5.WriteResponse(conn, socks5.Response{ReplyCode: socks5.ReplyCodeSuccess}) != nil {
		return
	}
	go func() {
		_, _ = io.Copy(tunnel, reader)
		tunnel.closeWrite()
	}()
	_, _ = io.Copy(conn, tunnel)
}
