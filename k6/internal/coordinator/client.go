// SPDX-License-Identifier: AGPL-3.0-only

package coordinator

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// requestTimeout bounds a question that is not held open.
	requestTimeout = 10 * time.Second
	// recordTimeout bounds the sending of a record.
	recordTimeout = 10 * time.Minute
	// Deaf is for how long a coordinator may not answer before its runners give up.
	Deaf = 20 * time.Second
	// retryEvery is between two tries of a request that got no answer.
	retryEvery = 250 * time.Millisecond
	// exchanges are how often the clocks are compared; the quickest exchange counts.
	exchanges = 12
)

// Client is a runner's way to its coordinator.
type Client struct {
	URL    string
	Token  string
	Number int
	http   http.Client
	// answered is when the coordinator last did, nil before.
	answered atomic.Pointer[time.Time]
}

// ErrDeaf is that a coordinator has not answered for so long.
var ErrDeaf = errors.New("the coordinator does not answer")

// Silent reports whether the coordinator has answered once, and then nothing for Deaf. A question is asked once then.
func (c *Client) Silent() bool {
	last := c.answered.Load()
	return last != nil && time.Since(*last) > Deaf
}

// Patience is for how long the coordinator may stay silent yet before its runners give up, a second at least.
func (c *Client) Patience() time.Duration {
	last := c.answered.Load()
	if last == nil {
		return Deaf
	}
	return max(time.Until(last.Add(Deaf)), time.Second)
}

// ask asks once.
func (c *Client) ask(ctx context.Context, path string, said, told any) error {
	text, err := json.Marshal(said)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, holdFor+requestTimeout)
	defer cancel()
	request, err := c.request(ctx, path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	return c.send(request, told)
}

func (c *Client) request(ctx context.Context, path string, body io.Reader) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.URL, "/")+path, body)
	if err == nil {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	return request, err
}

func (c *Client) send(request *http.Request, told any) error {
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, mostJSON+1024))
	if err != nil {
		return err
	}
	now := time.Now()
	c.answered.Store(&now)
	if response.StatusCode != http.StatusOK {
		var refused struct{ Error string }
		if json.Unmarshal(text, &refused) != nil || refused.Error == "" {
			refused.Error = "it answered " + response.Status
		}
		return &refusal{response.StatusCode, refused.Error}
	}
	return json.Unmarshal(text, told)
}

// insist asks again while nobody answers, until the last answer of all is Deaf ago.
func (c *Client) insist(ctx context.Context, path string, said, told any) error {
	for until := time.Now().Add(Deaf); ; {
		err := c.ask(ctx, path, said, told)
		var refused *refusal
		switch {
		case err == nil, errors.As(err, &refused):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(until), c.Silent():
			return fmt.Errorf("%w: %s", ErrDeaf, lastOf(err))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryEvery):
		}
	}
}

// lastOf is the last part of what went wrong with a connection.
func lastOf(err error) string {
	text := err.Error()
	return strings.TrimSpace(text[strings.LastIndex(text, ": ")+1:])
}

// Register says who the runner is, and returns what it has in common with the other runners of this run, and with nobody else.
func (c *Client) Register(ctx context.Context, r Registration) (together string, err error) {
	c.Number, r.Process = r.Number, rand.Text()
	var told Answer
	err = c.insist(ctx, PathRegister, r, &told)
	return told.Together, err
}

// Offset is what Steady must be set forward by, to be the coordinator's: by the quickest of some exchanges, of which half
// the time is each way.
func (c *Client) Offset(ctx context.Context) (time.Duration, error) {
	quickest, offset := time.Duration(-1), time.Duration(0)
	for range exchanges {
		var told struct {
			UnixMS float64 `json:"unix_ms"`
		}
		before := Steady()
		if err := c.insist(ctx, PathClock, struct{}{}, &told); err != nil {
			return 0, err
		}
		took := time.Since(before)
		if quickest < 0 || took < quickest {
			middle := before.Add(took / 2)
			quickest, offset = took, time.Duration((told.UnixMS-unixMS(middle))*float64(time.Millisecond))
		}
	}
	return offset, nil
}

// await asks until it is told something.
func (c *Client) await(ctx context.Context, path string, said Said) (Answer, error) {
	said.Number = c.Number
	for {
		var told Answer
		if err := c.insist(ctx, path, said, &told); err != nil {
			return told, err
		}
		if told.Stop != "" || told.Do || told.Done || told.StartUnixMS != 0 {
			return told, nil
		}
	}
}

// SetUp asks who sets up: this runner, or another whose data it then gets.
func (c *Client) SetUp(ctx context.Context) (Answer, error) { return c.await(ctx, PathSetUp, Said{}) }

// Ready waits for the start of the load.
func (c *Client) Ready(ctx context.Context) (Answer, error) { return c.await(ctx, PathReady, Said{}) }

// Loaded says that the load has ended, and why before its time; it asks who tears down.
func (c *Client) Loaded(ctx context.Context, early string) (Answer, error) {
	return c.await(ctx, PathLoaded, Said{Why: early})
}

// Made hands on what the set-up returned.
func (c *Client) Made(ctx context.Context, data json.RawMessage) error {
	return c.insist(ctx, PathMade, Said{Number: c.Number, Data: data}, &Answer{})
}

// TornDown says that the tear-down has come to its end, and why it failed, "" where it did not.
func (c *Client) TornDown(ctx context.Context, failed string) error {
	return c.insist(ctx, PathTornDown, Said{Number: c.Number, Why: failed}, &Answer{})
}

// Stop asks that all stop.
func (c *Client) Stop(ctx context.Context, why string) error {
	return c.ask(ctx, PathStop, Said{Number: c.Number, Why: why}, &Answer{})
}

// Leave says that there will be no record.
func (c *Client) Leave(ctx context.Context, why string) error {
	return c.ask(ctx, PathLeave, Said{Number: c.Number, Why: why}, &Answer{})
}

// Beat is a sign of life; it returns why to stop, "" where nobody says so.
func (c *Client) Beat(ctx context.Context) (stop string, err error) {
	var told Answer
	err = c.ask(ctx, PathBeat, Said{Number: c.Number}, &told)
	var refused *refusal
	if errors.As(err, &refused) {
		return refused.line, nil
	}
	return told.Stop, err
}

// Bye says that the runner knows that its record was taken.
func (c *Client) Bye(ctx context.Context) error {
	return c.ask(ctx, PathBye, Said{Number: c.Number}, &Answer{})
}

// Record sends the runner's record.
func (c *Client) Record(ctx context.Context, record []byte) error {
	return c.deliver(ctx, PathRecord, record)
}

// Draft sends the runner's samples before its record, and waits until all others' are there.
func (c *Client) Draft(ctx context.Context, record []byte) error {
	if err := c.deliver(ctx, PathDraft, record); err != nil {
		return err
	}
	_, err := c.await(ctx, PathWhole, Said{})
	return err
}

// Values are those of a metric over the samples of all runners, by k6's names; nil where there is none.
func (c *Client) Values(ctx context.Context, metric string) (map[string]float64, error) {
	var told struct{ Values map[string]float64 }
	err := c.insist(ctx, PathValues, Said{Number: c.Number, Metric: metric}, &told)
	return told.Values, err
}

// deliver sends a record, again where it was cut short on its way.
func (c *Client) deliver(ctx context.Context, path string, record []byte) error {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	sum := sha256.Sum256(record)
	for until := time.Now().Add(Deaf); ; {
		request, err := c.request(ctx, path, bytes.NewReader(record))
		if err != nil {
			return err
		}
		request.Header.Set(SumHeader, hex.EncodeToString(sum[:]))
		request.Header.Set(NumberHeader, strconv.Itoa(c.Number))
		err = c.send(request, &Answer{})
		var refused *refusal
		switch {
		case err == nil, errors.As(err, &refused) && refused.status != http.StatusUnprocessableEntity, ctx.Err() != nil:
			return err
		case time.Now().After(until), c.Silent():
			return fmt.Errorf("%w: %s", ErrDeaf, lastOf(err))
		}
		time.Sleep(retryEvery)
	}
}
