// SPDX-License-Identifier: AGPL-3.0-only

package influx

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"windtunnel/k6/internal/testsupport/busy"
)

// server stands for InfluxDB: it keeps what was written, and answers as the test demands.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	written string
	asked   []*http.Request
	status  int
	body    string
	hold    chan struct{} // answers wait for it
	slow    bool          // to answer takes longer than to ask again would
}

func newServer(t *testing.T) *server {
	s := &server{status: http.StatusNoContent}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		lines, _ := io.ReadAll(unpacked)
		s.mu.Lock()
		status, body, hold, slow := s.status, s.body, s.hold, s.slow
		s.asked = append(s.asked, r)
		if status == http.StatusNoContent && hold == nil {
			s.written += string(lines)
		}
		s.mu.Unlock()
		if hold != nil {
			<-hold
		}
		if slow {
			time.Sleep(Timeout / 2)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) answer(status int, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.body = status, body
}

// requests is how many there were.
func (s *server) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

func (s *server) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written
}

func config(t *testing.T, pairs ...string) Config {
	t.Helper()
	c, err := FromEnvironment(func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// said collects warnings.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

func (s *said) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.lines...)
}

func batchOf(second int64) *Batch {
	var b Batch
	b.Add("m", Tags{"testid": "t"}, Fields{"count": second}, time.Unix(second, 0))
	return &b
}

var roomy = Limits{Batches: 60, Bytes: 1 << 20}

func TestAllIsWrittenInOrder(t *testing.T) {
	s := newServer(t)
	var warnings said
	sender := NewSender(config(t, "INFLUX", s.URL+"/", "INFLUX_USERNAME", "me", "INFLUX_PASSWORD", "p:w", "INFLUX_DATABASE", "d b"), roomy, warnings.add)
	want := ""
	for second := range int64(50) {
		sender.Send(batchOf(second))
		want += fmt.Sprintf("m,testid=t count=%di %d\n", second, 1000*second)
	}
	sender.Send(&Batch{})
	if outage := sender.Close(t.Context()); outage.Warning != "" || outage.Missing.Count() != 0 || len(warnings.all()) != 0 {
		t.Errorf("%+v %q", outage, warnings.all())
	}
	if got := s.text(); got != want {
		t.Errorf("got %s", got)
	}
	r := s.asked[0]
	if user, password, _ := r.BasicAuth(); user != "me" || password != "p:w" || len(s.asked) != 50 {
		t.Errorf("%s %s, %d requests", user, password, len(s.asked))
	}
	if got := r.URL.String(); got != "/write?db=d+b&precision=ms" {
		t.Error(got)
	}
}

func TestATokenStandsForAPassword(t *testing.T) {
	s := newServer(t)
	sender := NewSender(config(t, "INFLUX", s.URL, "INFLUX_PASSWORD", "pw", "INFLUX_TOKEN", "tk"), roomy, func(string) {})
	sender.Send(batchOf(1))
	sender.Close(t.Context())
	if got := s.asked[0].Header.Get("Authorization"); got != "Token tk" {
		t.Error(got)
	}
}

func TestWhatWaitsIsSentAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.answer(http.StatusInternalServerError, `{"error":"engine: write /wal: no space left on device"}`)
	var warnings said
	sender := NewSender(config(t, "INFLUX", s.URL), roomy, warnings.add)
	sender.Send(batchOf(1))
	await(t, func() bool { return len(warnings.all()) == 1 })
	sender.Send(batchOf(2))
	s.answer(http.StatusNoContent, "")
	await(t, func() bool { return strings.Count(s.text(), "\n") == 2 })
	outage := sender.Close(t.Context())
	if got := s.text(); got != "m,testid=t count=1i 1000\nm,testid=t count=2i 2000\n" {
		t.Error(got)
	}
	if outage.Missing.Count() != 0 || outage.Warning != "InfluxDB at "+s.URL+
		" cannot write (500: engine: write /wal: no space left on device); see its log and the disk that it writes to" {
		t.Errorf("%+v", outage)
	}
}

func await(t *testing.T, condition func() bool) {
	t.Helper()
	if !busy.Until(10*time.Second, condition) {
		t.Fatal("gave up waiting")
	}
}

// away returns a server that cannot write, and a sender that has warned of it and holds the batch of second 100.
func away(t *testing.T, limits Limits) (*server, *Sender, *said) {
	t.Helper()
	s, warnings := newServer(t), &said{}
	s.answer(http.StatusServiceUnavailable, "")
	sender := NewSender(config(t, "INFLUX", s.URL), limits, warnings.add)
	sender.Send(batchOf(100))
	await(t, func() bool { return len(warnings.all()) == 1 })
	return s, sender, warnings
}

func TestTheOldestIsDropped(t *testing.T) {
	t.Parallel()
	s, sender, warnings := away(t, Limits{Batches: 3, Bytes: 1 << 20})
	for second := int64(101); second < 110; second++ {
		sender.Send(batchOf(second))
	}
	await(t, func() bool { return sender.Outage().Missing.Count() == 7 })
	s.answer(http.StatusNoContent, "")
	await(t, func() bool { return strings.Count(s.text(), "\n") == 3 })
	outage := sender.Close(t.Context())
	if got := outage.Missing.String(); got != "100-106" {
		t.Error(got)
	}
	if len(warnings.all()) != 1 || outage.Warning != warnings.all()[0] {
		t.Errorf("%q", warnings.all())
	}
}

func TestWhatIsSpareIsDroppedFirst(t *testing.T) {
	t.Parallel()
	s, sender, _ := away(t, Limits{Batches: 4, Bytes: 1 << 20})
	for second := int64(101); second < 110; second++ {
		b := batchOf(second)
		b.Spare = second != 105
		sender.Send(b)
	}
	await(t, func() bool { return sender.Outage().Missing.Count() == 6 })
	s.answer(http.StatusNoContent, "")
	await(t, func() bool { return strings.Count(s.text(), "\n") == 4 })
	if got := sender.Close(t.Context()).Missing.String(); got != "101-104,106-107" {
		t.Error(got)
	}
}

func TestWhatIsTooMuchInBytesIsDropped(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.answer(http.StatusServiceUnavailable, "")
	one := len(batchOf(1000).compressed())
	sender := NewSender(config(t, "INFLUX", s.URL), Limits{Batches: 60, Bytes: 4*one + one/2}, func(string) {})
	for second := int64(1000); second < 1010; second++ {
		sender.Send(batchOf(second))
	}
	await(t, func() bool { return sender.Outage().Missing.String() == "1000-1005" })
	if got := sender.Close(t.Context()).Missing.Count(); got != 10 {
		t.Errorf("%d seconds are missing", got)
	}
}

// TestAServerThatIsTooSlowIsNamed has one that writes all that it is sent, only not as fast as that comes.
func TestAServerThatIsTooSlowIsNamed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.slow = true
	var warnings said
	sender := NewSender(config(t, "INFLUX", s.URL), Limits{Batches: 3, Bytes: 1 << 20}, warnings.add)
	for second := range int64(6) {
		sender.Send(batchOf(second))
	}
	want := "InfluxDB at " + s.URL + " needs more than a second to store a second's points; find its load, or unset INFLUX"
	if got := warnings.all(); len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
	outage := sender.Close(t.Context())
	written := int64(strings.Count(s.text(), "\n"))
	if missing := outage.Missing.Count(); missing < 2 || missing+written < 6 || outage.Warning != want || len(warnings.all()) != 1 {
		t.Errorf("%d written, %d missing, %q", written, missing, warnings.all())
	}
}

func TestASlowServerIsNamedAtTheEnd(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.slow = true
	var warnings said
	sender := NewSender(config(t, "INFLUX", s.URL), roomy, warnings.add)
	for second := range int64(20) {
		sender.Send(batchOf(second))
	}
	outage := sender.Close(t.Context())
	if got := warnings.all(); len(got) != 1 || !strings.Contains(got[0], "needs more than a second") || outage.Missing.Count() == 0 {
		t.Errorf("%q, %d missing", got, outage.Missing.Count())
	}
}

func TestALastBatchIsTried(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for n := range int64(500) {
		sender := NewSender(config(t, "INFLUX", s.URL), roomy, func(string) {})
		for range n % 50 {
			runtime.Gosched()
		}
		sender.Send(batchOf(n))
		if outage := sender.Close(t.Context()); outage.Any() {
			t.Fatalf("%d: %+v", n, outage)
		}
	}
	if got := s.requests(); got != 500 {
		t.Errorf("%d requests", got)
	}
}

func TestAFlushCanBeGivenUp(t *testing.T) {
	t.Parallel()
	busy.Undisturbed(t, func(timely busy.Timely) {
		s := newServer(t)
		s.hold = make(chan struct{})
		defer close(s.hold)
		var warnings said
		sender := NewSender(config(t, "INFLUX", s.URL), roomy, warnings.add)
		sender.Send(batchOf(1))
		await(t, func() bool { return s.requests() == 1 })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		outage := sender.Close(ctx)
		if outage.Missing.String() != "1-1" || outage.Warning != "" || len(warnings.all()) != 0 {
			t.Errorf("%+v %q", outage, warnings.all())
		}
		took := time.Since(start)
		timely(took <= Timeout, "it took %v", took)
	})
}

// TestARefusedLoginIsSeldomTriedAgain compares with a server that fails in another way.
func TestARefusedLoginIsSeldomTriedAgain(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403, 404} {
		refuses, fails := newServer(t), newServer(t)
		refuses.answer(status, "")
		fails.answer(http.StatusServiceUnavailable, "")
		var senders []*Sender
		for _, s := range []*server{refuses, fails} {
			sender := NewSender(config(t, "INFLUX", s.URL), roomy, func(string) {})
			sender.Send(batchOf(1))
			senders = append(senders, sender)
		}
		await(t, func() bool { return fails.requests() == 3 })
		if got := refuses.requests(); got != 1 {
			t.Errorf("%d: %d requests", status, got)
		}
		for _, sender := range senders {
			sender.Close(t.Context())
		}
		if got := refuses.requests(); got != 2 { // once more at the end
			t.Errorf("%d: %d requests in all", status, got)
		}
	}
}

func TestWhatIsRefusedDoesNotBlockTheRest(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 410, 413, 422} {
		s := newServer(t)
		s.answer(status, `{"error":"partial write: field type conflict dropped=1"}`)
		var warnings said
		sender := NewSender(config(t, "INFLUX", s.URL), roomy, warnings.add)
		sender.Send(batchOf(7))
		await(t, func() bool { return len(warnings.all()) == 1 })
		s.answer(http.StatusNoContent, "")
		sender.Send(batchOf(8))
		if outage := sender.Close(t.Context()); outage.Missing.String() != "7-7" {
			t.Errorf("%d: %+v", status, outage)
		}
		if got := s.text(); got != "m,testid=t count=8i 8000\n" {
			t.Errorf("%d: %s", status, got)
		}
	}
}

func TestNobodyWaitsForASlowServer(t *testing.T) {
	t.Parallel()
	busy.Undisturbed(t, func(timely busy.Timely) {
		s := newServer(t)
		s.hold = make(chan struct{})
		defer close(s.hold)
		var warnings said
		sender := NewSender(config(t, "INFLUX", s.URL), roomy, warnings.add)
		start := time.Now()
		for second := range int64(30) {
			sender.Send(batchOf(second))
		}
		took := time.Since(start)
		timely(took <= Timeout/2, "to send took %v", took)
		outage := sender.Close(t.Context())
		took = time.Since(start)
		timely(took <= FlushLimit+Timeout, "to close took %v", took)
		if outage.Missing.Count() != 30 || !strings.Contains(outage.Warning, "does not answer within 2s") {
			t.Errorf("%+v", outage)
		}
	})
}

func TestASilentServerIsNamed(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	sender := NewSender(config(t, "INFLUX", "http://"+address), roomy, func(string) {})
	sender.Send(batchOf(1))
	outage := sender.Close(t.Context())
	if want := "InfluxDB at http://" + address + " refuses connections; start it (`make up` or `make influx`), or unset INFLUX"; outage.Warning != want {
		t.Error(outage.Warning)
	}
}

func TestAnswersAreExplained(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   string
	}{
		{401, `{"error":"unable to parse authentication credentials"}`, "wants a login (401: unable to parse authentication credentials); set INFLUX_PASSWORD or INFLUX_TOKEN"},
		{403, `{"error":"no"}`, "does not let the login write to the database windtunnel (403: no); grant write access"},
		{404, `{"error":"database not found: \"windtunnel\""}`, `has no database windtunnel (404: database not found: "windtunnel"); make it, or fix INFLUX_DATABASE`},
		{404, `{"code":"not found","message":"no bucket"}`, "has no database windtunnel (404: no bucket); make it, or fix INFLUX_DATABASE"},
		{413, ``, "refuses a second's points as too large (413); raise its max-body-size"},
		{422, `{"code":"unprocessable entity","message":"field type conflict"}`, "refuses points (422: field type conflict); give a separate database with INFLUX_DATABASE"},
		{408, ``, "cannot write (408); see its log and the disk that it writes to"},
		{400, "Client sent an HTTP request to an HTTPS server.\n", "speaks TLS; give INFLUX with https://"},
		{200, `<html>`, "answers as no InfluxDB does (200); fix INFLUX"},
		{302, ``, "answers as no InfluxDB does (302); fix INFLUX"},
	} {
		s := newServer(t)
		s.answer(c.status, c.body)
		trouble := newClient(config(t, "INFLUX", s.URL)).post(t.Context(), batchOf(1).compressed())
		if trouble == nil || trouble.line != "InfluxDB at "+s.URL+" "+c.want {
			t.Errorf("%d: %v", c.status, trouble)
		}
	}
}

func TestTroubleWithTLSIsNamed(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	secure, plain := httptest.NewUnstartedServer(handler), httptest.NewServer(handler)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	old := httptest.NewUnstartedServer(handler)
	old.Config.ErrorLog = secure.Config.ErrorLog
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	old.StartTLS()
	for _, s := range []*httptest.Server{secure, plain, old} {
		defer s.Close()
	}
	for url, want := range map[string]string{
		secure.URL: " has a certificate that is not trusted here (tls: failed to verify certificate: x509: certificate signed by unknown authority); let SSL_CERT_FILE name its authority, or fix INFLUX",
		strings.Replace(plain.URL, "http:", "https:", 1):  " speaks no TLS; give INFLUX with http://",
		strings.Replace(secure.URL, "https:", "http:", 1): " speaks TLS; give INFLUX with https://",
		old.URL: ": the TLS handshake failed (remote error: tls: protocol version not supported); fix its certificate and TLS settings, or INFLUX",
	} {
		trouble := newClient(config(t, "INFLUX", url)).post(t.Context(), batchOf(1).compressed())
		if trouble == nil || trouble.line != "InfluxDB at "+url+want {
			t.Errorf("got %v\nwant %s", trouble, want)
		}
	}
}

func TestWhatIsToBeUnsetIsWhatIsSet(t *testing.T) {
	for variable, url := range map[string]string{VariableURL: "http://127.0.0.1:1", VariablePassword: ""} {
		c := newClient(config(t, VariableURL, url, VariablePassword, "pw"))
		for _, line := range []string{c.slow(), c.silence(syscall.ECONNREFUSED), c.silence(context.DeadlineExceeded), c.silence(io.EOF)} {
			if !strings.HasSuffix(line, "or unset "+variable) {
				t.Error(line)
			}
		}
	}
}

func TestAnInfluxDBThatAnswersIsUp(t *testing.T) {
	for _, status := range []int{200, 204, 401} {
		for _, version := range []string{"1.6.7", ""} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/ping" || r.Header.Get("Authorization") != "" {
					t.Errorf("%s %v", r.URL, r.Header)
				}
				if version != "" {
					w.Header().Set("X-Influxdb-Version", version)
				}
				w.WriteHeader(status)
			}))
			c := config(t, VariableURL, s.URL, VariablePassword, "pw")
			if got := c.Answers(t.Context()); got != (version != "") {
				t.Errorf("%d %s: %v", status, version, got)
			}
			s.Close()
			if c.Answers(t.Context()) {
				t.Errorf("%d: it answers when it is gone", status)
			}
		}
	}
}
