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

	"windtunnel/k6/internal/exit"
)

const (
	// requestTimeout bounds a request that the coordinator answers at once.
	requestTimeout = 10 * time.Second
	// recordTimeout bounds the upload of a record.
	recordTimeout = 10 * time.Minute
	// Deaf is how long a coordinator may be unreachable before its runners give up.
	Deaf = 20 * time.Second
	// retryEvery is the time between two tries of a request without an answer.
	retryEvery = 250 * time.Millisecond
	// exchanges is how often the clocks are compared; the exchange with the shortest round trip counts.
	exchanges = 12
)

// Client is a runner's connection to its coordinator.
type Client struct {
	URL    string
	Token  string
	Number int
	http   http.Client
	// answered is the time of the coordinator's last answer, nil before the first.
	answered atomic.Pointer[time.Time]
}

// ErrDeaf means that a coordinator has not answered for the time Deaf.
var ErrDeaf = errors.New("the coordinator does not answer")

// Silent reports whether the coordinator has answered before, but not within the last Deaf. Then a request is tried only
// once.
func (c *Client) Silent() bool {
	last := c.answered.Load()
	return last != nil && time.Since(*last) > Deaf
}

// Patience is how much longer the coordinator may be silent before its runners give up, at least one second.
func (c *Client) Patience() time.Duration {
	last := c.answered.Load()
	if last == nil {
		return Deaf
	}
	return max(time.Until(last.Add(Deaf)), time.Second)
}

func (c *Client) ask(ctx context.Context, path string, body, answer any) error {
	text, err := json.Marshal(body)
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
	return c.send(request, answer)
}

func (c *Client) request(ctx context.Context, path string, body io.Reader) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.URL, "/")+path, body)
	if err == nil {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	return request, err
}

func (c *Client) send(request *http.Request, answer any) error {
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
	return json.Unmarshal(text, answer)
}

// insist repeats a request until it is answered, or until the last answer to any request is Deaf ago.
func (c *Client) insist(ctx context.Context, path string, body, answer any) error {
	return c.repeat(ctx, func() error { return c.ask(ctx, path, body, answer) })
}

// repeat sends until there is an answer, other than that the transfer was cut short.
func (c *Client) repeat(ctx context.Context, send func() error) error {
	for until := time.Now().Add(Deaf); ; {
		err := send()
		var refused *refusal
		switch {
		case err == nil, errors.As(err, &refused) && refused.status != http.StatusUnprocessableEntity:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(until), c.Silent():
			return fmt.Errorf("%w: %s", ErrDeaf, exit.LastPart(err))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryEvery):
		}
	}
}

// Register announces the runner. It returns an identifier that all runners of this run share, and no other run has.
func (c *Client) Register(ctx context.Context, r Registration) (together string, err error) {
	c.Number, r.Process = r.Number, rand.Text()
	var answer Answer
	err = c.insist(ctx, PathRegister, r, &answer)
	return answer.Together, err
}

// Offset is the difference to add to Steady to get the coordinator's clock. It uses the quickest of some exchanges, and
// assumes that each direction takes half of the time.
func (c *Client) Offset(ctx context.Context) (time.Duration, error) {
	quickest, offset := time.Duration(-1), time.Duration(0)
	for range exchanges {
		var answer struct {
			UnixMS float64 `json:"unix_ms"`
		}
		before := Steady()
		if err := c.insist(ctx, PathClock, struct{}{}, &answer); err != nil {
			return 0, err
		}
		took := time.Since(before)
		if quickest < 0 || took < quickest {
			middle := before.Add(took / 2)
			quickest, offset = took, time.Duration((answer.UnixMS-unixMS(middle))*float64(time.Millisecond))
		}
	}
	return offset, nil
}

// await repeats a request until the answer is not empty.
func (c *Client) await(ctx context.Context, path string, body Said) (Answer, error) {
	body.Number = c.Number
	for {
		var answer Answer
		if err := c.insist(ctx, path, body, &answer); err != nil {
			return answer, err
		}
		if answer.Stop != "" || answer.Do || answer.Done || answer.StartUnixMS != 0 {
			return answer, nil
		}
	}
}

// SetUp asks whether this runner sets up, or returns the data of the runner that did.
func (c *Client) SetUp(ctx context.Context) (Answer, error) { return c.await(ctx, PathSetUp, Said{}) }

// Ready waits for the start of the load.
func (c *Client) Ready(ctx context.Context) (Answer, error) { return c.await(ctx, PathReady, Said{}) }

// Loaded reports the end of the load; early says why it ended too early. The answer says whether this runner tears down.
func (c *Client) Loaded(ctx context.Context, early string) (Answer, error) {
	return c.await(ctx, PathLoaded, Said{Why: early})
}

// Made sends the data that the set-up returned.
func (c *Client) Made(ctx context.Context, data json.RawMessage) error {
	return c.insist(ctx, PathMade, Said{Number: c.Number, Data: data}, &Answer{})
}

// TornDown reports the end of the tear-down; failed says why it failed, "" if it did not.
func (c *Client) TornDown(ctx context.Context, failed string) error {
	return c.insist(ctx, PathTornDown, Said{Number: c.Number, Why: failed}, &Answer{})
}

// Stop asks to stop all runners.
func (c *Client) Stop(ctx context.Context, why string) error {
	return c.ask(ctx, PathStop, Said{Number: c.Number, Why: why}, &Answer{})
}

// Leave reports that this runner sends no record.
func (c *Client) Leave(ctx context.Context, why string) error {
	return c.ask(ctx, PathLeave, Said{Number: c.Number, Why: why}, &Answer{})
}

// Beat sends a sign of life. It returns the reason to stop, "" to continue.
func (c *Client) Beat(ctx context.Context) (stop string, err error) {
	var answer Answer
	err = c.ask(ctx, PathBeat, Said{Number: c.Number}, &answer)
	var refused *refusal
	if errors.As(err, &refused) {
		return refused.line, nil
	}
	return answer.Stop, err
}

// Bye confirms that the runner knows that its record arrived.
func (c *Client) Bye(ctx context.Context) error {
	return c.ask(ctx, PathBye, Said{Number: c.Number}, &Answer{})
}

// Record sends the runner's record.
func (c *Client) Record(ctx context.Context, record []byte) error {
	return c.deliver(ctx, PathRecord, record)
}

// Draft sends the runner's samples before its record, and waits until the samples of all other runners have arrived.
func (c *Client) Draft(ctx context.Context, record []byte) error {
	if err := c.deliver(ctx, PathDraft, record); err != nil {
		return err
	}
	_, err := c.await(ctx, PathWhole, Said{})
	return err
}

// Values are a metric's values over the samples of all runners, by k6's names; nil for an unknown metric.
func (c *Client) Values(ctx context.Context, metric string) (map[string]float64, error) {
	var answer struct{ Values map[string]float64 }
	err := c.insist(ctx, PathValues, Said{Number: c.Number, Metric: metric}, &answer)
	return answer.Values, err
}

// deliver sends a record, and sends it again if the transfer was cut short.
func (c *Client) deliver(ctx context.Context, path string, record []byte) error {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	sum := sha256.Sum256(record)
	return c.repeat(ctx, func() error {
		request, err := c.request(ctx, path, bytes.NewReader(record))
		if err != nil {
			return err
		}
		request.Header.Set(SumHeader, hex.EncodeToString(sum[:]))
		request.Header.Set(NumberHeader, strconv.Itoa(c.Number))
		return c.send(request, &Answer{})
	})
}
