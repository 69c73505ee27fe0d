// SPDX-License-Identifier: AGPL-3.0-only

package silent

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.k6.io/k6/js/modulestest"
	"go.k6.io/k6/lib"
)

// sendAtMost is what the server tries to send: far more than the buffers of a loopback connection hold.
const sendAtMost = 64 << 20

// patience is the time after which a write that does not go on counts as blocked.
const patience = 500 * time.Millisecond

// served takes one client, answers its first frame and hands the connection over.
func served(t *testing.T, status int) (url string, got chan string, connections chan *websocket.Conn) {
	t.Helper()
	got, connections = make(chan string, 1), make(chan *websocket.Conn, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status != http.StatusSwitchingProtocols {
			w.WriteHeader(status)
			return
		}
		connection, err := (&websocket.Upgrader{Subprotocols: []string{"bearer"}}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		_, frame, err := connection.ReadMessage()
		if err != nil {
			return
		}
		_ = connection.WriteMessage(websocket.TextMessage, []byte("welcome"))
		got <- string(frame)
		connections <- connection
	}))
	t.Cleanup(server.Close)
	return "ws" + strings.TrimPrefix(server.URL, "http"), got, connections
}

func newInstance(t *testing.T) instance {
	t.Helper()
	rt := modulestest.NewRuntime(t)
	rt.MoveToVUContext(&lib.State{Dialer: &net.Dialer{}})
	return instance{rt.VU}
}

// sent writes to a connection until it blocks, and returns the bytes that were written and why it ended.
func sent(connection *websocket.Conn) (int, error) {
	frame := make([]byte, 64<<10)
	for total := 0; total < sendAtMost; total += len(frame) {
		_ = connection.SetWriteDeadline(time.Now().Add(patience))
		if err := connection.WriteMessage(websocket.BinaryMessage, frame); err != nil {
			return total, err
		}
	}
	return sendAtMost, nil
}

func timedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

func TestASilentClientReadsItsAnswerAndThenNothing(t *testing.T) {
	url, got, connections := served(t, http.StatusSwitchingProtocols)
	client, err := newInstance(t).join(url, []string{"bearer", "bearer.secret"}, "subscribe", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if frame := <-got; frame != "subscribe" || client.Answer != "welcome" {
		t.Errorf("the server read %q, the client %q", frame, client.Answer)
	}
	if total, err := sent(<-connections); !timedOut(err) {
		t.Errorf("the server sent %d bytes to a client that reads nothing: %v", total, err)
	}
}

func TestASilentClientLeavesWithoutTakingWhatWaits(t *testing.T) {
	url, _, connections := served(t, http.StatusSwitchingProtocols)
	client, err := newInstance(t).join(url, nil, "subscribe", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	connection := <-connections
	_ = connection.WriteMessage(websocket.TextMessage, []byte("a message that nobody reads"))
	client.Close()
	_ = connection.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, _, err := connection.ReadMessage(); err == nil || timedOut(err) {
		t.Errorf("the server still has its client: %v", err)
	}
}

func TestARefusedClientIsToldWithoutItsToken(t *testing.T) {
	url, _, _ := served(t, http.StatusForbidden)
	for address, want := range map[string]string{
		url + "?token=secret":         "the handshake was refused: HTTP 403",
		"ws://127.0.0.1:1/?t=secret":  "no WebSocket: ",
		"http://127.0.0.1/?to=secret": "no WebSocket: ",
	} {
		_, err := newInstance(t).join(address, nil, "subscribe", 10_000)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, not %q", address, err, want)
		}
	}
}
