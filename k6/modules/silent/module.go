// SPDX-License-Identifier: AGPL-3.0-only

// Package silent is the module k6/x/windtunnel/silent: a WebSocket client that stops reading. k6's own WebSocket reads all
// that comes. lib/globals.d.ts has its types.
package silent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/gorilla/websocket"
	"go.k6.io/k6/js/modules"
	"go.k6.io/k6/lib/netext"

	"windtunnel/k6/internal/jsvalue"
)

const ImportPath = "k6/x/windtunnel/silent"

// readBuffer is the receive buffer in bytes, small so that little traffic fills it (SO_RCVBUF, socket(7)).
const readBuffer = 4096

func init() {
	modules.Register(ImportPath, jsvalue.Module(func(vu modules.VU) map[string]any {
		return map[string]any{"join": instance{vu}.join}
	}))
}

type instance struct{ vu modules.VU }

// Client is a connection that nobody reads.
type Client struct {
	connection *websocket.Conn
	// Answer is the text of the one frame that was read.
	Answer string
}

// Close ends the connection without a close frame: the peer may not take one.
func (c *Client) Close() { _ = c.connection.Close() }

// join connects to url within ms (RFC 6455), sends one text frame, reads one answer and nothing after it. Errors do not name
// the URL, which may hold a token.
func (i instance) join(url string, protocols []string, frame string, ms int64) (*Client, error) {
	state := i.vu.State()
	if state == nil {
		return nil, errors.New("join: there is no connection in the init context")
	}
	ctx, cancel := context.WithTimeout(i.vu.Context(), time.Duration(ms)*time.Millisecond)
	defer cancel()
	dialer := websocket.Dialer{
		NetDialContext:  small(state.Dialer.DialContext),
		TLSClientConfig: state.TLSConfig,
		Subprotocols:    protocols,
	}
	connection, response, err := dialer.DialContext(ctx, url, nil)
	if err != nil {
		if response != nil {
			return nil, fmt.Errorf("the handshake was refused: HTTP %d", response.StatusCode)
		}
		return nil, fmt.Errorf("no WebSocket: %w", err)
	}
	client := &Client{connection: connection}
	context.AfterFunc(i.vu.Context(), client.Close)
	deadline, _ := ctx.Deadline()
	_ = connection.SetReadDeadline(deadline)
	if err = connection.WriteMessage(websocket.TextMessage, []byte(frame)); err == nil {
		var answer []byte
		_, answer, err = connection.ReadMessage()
		client.Answer = string(answer)
	}
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("no answer to the first frame: %w", err)
	}
	return client, nil
}

type dial func(ctx context.Context, network, address string) (net.Conn, error)

// small dials connections of a small receive buffer.
func small(dialed dial) dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := dialed(ctx, network, address)
		inner := connection
		if counted, ok := connection.(*netext.Conn); ok {
			inner = counted.Conn
		}
		if tcp, ok := inner.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(readBuffer)
		}
		return connection, err
	}
}
