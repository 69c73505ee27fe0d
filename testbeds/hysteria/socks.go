// SPDX-License-Identifier: AGPL-3.0-only

package main

import (
	"bufio"
	"context"
	"io"
	"net"

	"github.com/apernet/hysteria/core/v2/client"
	"github.com/sagernet/sing/common/buf"
	M "github.com/sagernet/sing/common/metadata"
	N "github.com/sagernet/sing/common/network"
	"github.com/sagernet/sing/protocol/socks"
)

// serveSocks takes SOCKS 5 (RFC 1928) without a password, and sends all through the hop.
func serveSocks(address string, hop client.Client) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			reader := bufio.NewReader(conn)
			// An error is the end of this connection alone, which its client sees.
			_ = socks.HandleConnectionEx(context.Background(), buffered{conn, reader}, reader, nil, through{hop}, nil,
				M.SocksaddrFromNet(conn.RemoteAddr()), nil)
		}()
	}
}

// buffered reads first what came in together with the request.
type buffered struct {
	net.Conn
	reader *bufio.Reader
}

// Read reads from the buffer, then from the connection.
func (b buffered) Read(p []byte) (int, error) { return b.reader.Read(p) }

type through struct{ hop client.Client }

// NewConnectionEx carries a connection. Its end one way is its end both ways, as in hysteria's own program: the core closes both.
func (t through) NewConnectionEx(_ context.Context, conn net.Conn, _, destination M.Socksaddr, _ N.CloseHandlerFunc) {
	far, err := t.hop.TCP(destination.String())
	if err != nil {
		_ = N.ReportHandshakeFailure(conn, err)
		return
	}
	defer far.Close()
	if err := N.ReportConnHandshakeSuccess(conn, far); err != nil {
		return
	}
	ended := make(chan struct{}, 2)
	carry := func(to io.Writer, from io.Reader) {
		_, _ = io.Copy(to, from)
		ended <- struct{}{}
	}
	go carry(far, conn)
	go carry(conn, far)
	<-ended
}

// NewPacketConnectionEx carries the datagrams of a UDP association.
func (t through) NewPacketConnectionEx(_ context.Context, near N.PacketConn, _, _ M.Socksaddr, _ N.CloseHandlerFunc) {
	defer near.Close()
	far, err := t.hop.UDP()
	if err != nil {
		return
	}
	defer far.Close()
	go answers(near, far)
	for {
		packet := buf.NewPacket()
		destination, err := near.ReadPacket(packet)
		if err == nil {
			// A datagram that cannot be sent is lost, as datagrams are.
			_ = far.Send(packet.Bytes(), destination.String())
		}
		packet.Release()
		if err != nil {
			return
		}
	}
}

func answers(near N.PacketConn, far client.HyUDPConn) {
	defer near.Close()
	room := N.CalculateFrontHeadroom(near)
	for {
		payload, from, err := far.Receive()
		if err != nil {
			return
		}
		packet := buf.NewSize(room + len(payload))
		packet.Resize(room, 0)
		_, _ = packet.Write(payload)
		if err := near.WritePacket(packet, M.ParseSocksaddr(from)); err != nil {
			return
		}
	}
}
