// SPDX-License-Identifier: AGPL-3.0-only

package coordinator

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel/k6/internal/testsupport/busy"
)

// soon bounds what would wait for ever.
func soon(t *testing.T) context.Context {
	ctx, cancel := busy.Context(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestWhoAsksAgainSinceNoAnswerCameIsToldTheSame(t *testing.T) {
	tr := newTrial(t, 1, time.Minute, time.Minute)
	asked := Registration{Number: 1, Of: 1, Segment: "x", Checksum: "same", Process: "first"}
	for range 2 {
		if err := tr.register(asked); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if told, err := tr.Coordinator.setUp(soon(t), 1); err != nil || !told.Do {
			t.Fatalf("%+v %v", told, err)
		}
	}
	for range 2 {
		if err := tr.made(1, json.RawMessage(`{"topics":["a"]}`)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.made(1, json.RawMessage(`{"topics":["b"]}`)); err == nil {
		t.Error("a second set-up was taken")
	}
	asked.Process = "second"
	if err := tr.register(asked); err == nil {
		t.Error("a second process of the same number was taken")
	}
}

// Its teardown() threw before it said that its load had ended, say.
func TestARunnerWhoseTearDownFailedHoldsNobodyUp(t *testing.T) {
	for name, deliver := range map[string]func(c *Client, own []byte) error{
		"its record":  func(c *Client, own []byte) error { return c.Record(soon(t), own) },
		"its samples": func(c *Client, own []byte) error { return c.deliver(soon(t), PathDraft, own) },
	} {
		for _, cleans := range []bool{false, true} {
			tr := newTrial(t, 2, time.Minute, time.Minute)
			clients := tr.clients()
			first := slices.IndexFunc(tr.setUp(clients), func(a Answer) bool { return a.Do })
			each(t, clients, ready)
			answer := make(chan Answer, 1)
			go func() {
				told, _ := clients[1-first].Loaded(soon(t), "")
				answer <- told
			}()
			if cleans {
				if told, err := clients[first].Loaded(soon(t), ""); err != nil || !told.Do {
					t.Fatalf("%+v %v", told, err)
				}
			}
			if err := deliver(clients[first], file(t, first+1, 2, 10, true)); err != nil {
				t.Fatal(err)
			}
			if told := <-answer; !told.Do {
				t.Errorf("%s came, and it was to clean up: %v: nobody cleans up", name, cleans)
			}
		}
	}
}

func TestWhatCouldNotBeCleanedUpIsLeft(t *testing.T) {
	tr := newTrial(t, 1, time.Minute, time.Minute)
	clients := tr.clients()
	tr.setUp(clients)
	each(t, clients, ready)
	if _, err := clients[0].Loaded(soon(t), ""); err != nil {
		t.Fatal(err)
	}
	if err := clients[0].TornDown(soon(t), "refused"); err != nil || !tr.Unclean() || tr.Left() != "runner 1 of 1 could not clean up: refused" {
		t.Errorf("%v %q", err, tr.Left())
	}
}

func TestNobodyWaitsForWhoHadNotComeWhenAllWereStopped(t *testing.T) {
	tr := newTrial(t, 2, time.Minute, time.Minute)
	first := tr.client(1)
	tr.Stop("interrupted")
	if err := first.Leave(soon(t), "could not set up"); err != nil {
		t.Fatal(err)
	}
	if err := tr.Wait(soon(t)); err != nil {
		t.Fatal(err)
	}
	late := &Client{URL: tr.url, Token: token}
	if _, err := late.Register(soon(t), Registration{Number: 2, Of: 2, Checksum: "same"}); err == nil || err.Error() != "interrupted" {
		t.Errorf("%v", err)
	}
}

// reading calls do before its end.
type reading struct {
	io.Reader
	do func()
}

func (r reading) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == io.EOF {
		r.do()
	}
	return n, err
}

func TestARecordThatComesTooLateLeavesNothing(t *testing.T) {
	for name, take := range map[string]func(tr *trial, sum string, body io.Reader) error{
		"record": func(tr *trial, sum string, body io.Reader) error { return tr.take(1, sum, body) },
		"draft":  func(tr *trial, sum string, body io.Reader) error { return tr.takeDraft(1, sum, body) },
	} {
		tr := newTrial(t, 1, time.Minute, time.Minute)
		tr.client(1)
		own := file(t, 1, 1, 10, true)
		sum := sha256.Sum256(own)
		err := take(tr, hex.EncodeToString(sum[:]), reading{bytes.NewReader(own), func() { tr.Gone(1, "was killed") }})
		if err == nil || !strings.Contains(err.Error(), "counts as gone") {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(tr.folder); len(left) != 0 {
			t.Errorf("%s: %v is left", name, left)
		}
	}
}

// A file that is written to /dev/full takes nothing: https://man7.org/linux/man-pages/man4/full.4.html
func TestAFullDiskIsNamedAndNotTriedAgain(t *testing.T) {
	tr := newTrial(t, 1, time.Minute, time.Minute)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	d := &disk{file: full}
	if _, err := io.Copy(d, bytes.NewReader([]byte("a record"))); err == nil || d.failed == nil {
		t.Fatal("it was written")
	}
	var refused *refusal
	if err := tr.notKept(d.failed); !errors.As(err, &refused) || refused.status != http.StatusInsufficientStorage ||
		refused.line != "the coordinator cannot keep a record: no space left on device" {
		t.Errorf("%+v", refused)
	}
	c := tr.client(1)
	tr.config.Folder = "/nowhere"
	busy.Undisturbed(t, func(timely busy.Timely) {
		begun := time.Now()
		if err := c.Record(soon(t), file(t, 1, 1, 10, true)); err == nil || !strings.Contains(err.Error(), "the coordinator cannot keep a record: no such file or directory") {
			t.Fatal(err)
		}
		took := time.Since(begun)
		timely(took <= 10*time.Second, "it took %v", took)
	})
}

func TestARecordThatIsSentTwiceAtATimeIsOne(t *testing.T) {
	tr := newTrial(t, 1, time.Minute, time.Minute)
	c := tr.client(1)
	own := file(t, 1, 1, 10, true)
	sum := sha256.Sum256(own)
	err := tr.take(1, hex.EncodeToString(sum[:]), reading{bytes.NewReader(own), func() {
		if err := c.Record(soon(t), own); err != nil {
			t.Error(err)
		}
	}})
	if left, _ := os.ReadDir(tr.folder); err != nil || len(left) != 1 {
		t.Errorf("%v: %v", err, left)
	}
}
