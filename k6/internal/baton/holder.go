// SPDX-License-Identifier: AGPL-3.0-only

package baton

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
)

// Holder is a run whose load waits for its turn.
type Holder struct {
	keeper net.Conn
	// lines are the keeper's messages. Without a keeper they end, and the run goes on alone.
	lines chan string
}

// Join connects to the keeper that the value of Variable names. The run must be ready for its load.
func Join(value string) (*Holder, error) {
	side, path, ok := strings.Cut(value, "@")
	if !ok || side != "0" && side != "1" {
		return nil, fmt.Errorf("%s=%s: SIDE@PATH is needed, and SIDE is 0 or 1", Variable, value)
	}
	keeper, err := net.Dial("unix", path)
	if err != nil {
		return nil, fmt.Errorf("the comparison that gives turns does not answer: %w", err)
	}
	h := &Holder{keeper: keeper, lines: make(chan string)}
	if err := h.send(side); err != nil {
		_ = keeper.Close()
		return nil, err
	}
	go h.listen()
	return h, nil
}

func (h *Holder) send(line string) error {
	_, err := h.keeper.Write([]byte(line + "\n"))
	return err
}

func (h *Holder) listen() {
	defer close(h.lines)
	for lines := bufio.NewScanner(h.keeper); lines.Scan(); {
		h.lines <- lines.Text()
	}
}

// Wait returns when the load may begin, or when ctx ends.
func (h *Holder) Wait(ctx context.Context) {
	select {
	case <-h.lines:
	case <-ctx.Done():
	}
}

// End says that the load has ended, and waits until the other load has ended, too: what follows would disturb the other load.
func (h *Holder) End(ctx context.Context) {
	if h.send(ended) == nil {
		h.Wait(ctx)
	}
	_ = h.keeper.Close()
}
