// SPDX-License-Identifier: AGPL-3.0-only

package influx

import (
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// server stands for InfluxDB: it keeps what was written, and answers as the test tells it to.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	written string
	asked   []*http.Request
	status  int
	body    string
	hold    chan struct{} // answers wait for it
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
		status, body, hold := s.status, s.body, s.hold
		s.asked = append(s.asked, r)
		if status == http.StatusNoContent && hold == nil {
			s.written += string(lines)
		}
		s.mu.Unlock()
		if hold != nil {
			<-hold
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
		want += fmt.Sprintf("m,testid=t count=%di %d\n", second, second)
	}
	sender.Send(&Batch{})
	if outage := sender.Close(); outage.Warning != "" || outage.Missing.Count() != 0 || len(warnings.all()) != 0 {
		t.Errorf("%+v %q", outage, warnings.all())
	}
	if got := s.text(); got != want {
		t.Errorf("got %s", got)
	}
	r := s.asked[0]
	if user, password, _ := r.BasicAuth(); user != "me" || password != "p:w" || len(s.asked) != 50 {
		t.Errorf("%s %s, %d requests", user, password, len(s.asked))
	}
	if got := r.URL.String(); got != "/write?db=d+b&precision=s" {
		t.Error(got)
	}
}

func TestATokenStandsForAPassword(t *testing.T) {
	s := newServer(t)
	sender := NewSender(config(t, "INFLUX", s.URL, "INFLUX_PASSWORD", "pw", "INFLUX_TOKEN", "tk"), roomy, func(string) {})
	sender.Send(batchOf(1))
	sender.Close()
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
	outage := sender.Close()
	if got := s.text(); got != "m,testid=t count=1i 1\nm,testid=t count=2i 2\n" {
		t.Error(got)
	}
	if outage.Missing.Count() != 0 || outage.Warning != "InfluxDB at "+s.URL+
		" cannot write (500: engine: write /wal: no space left on device); see its log and the disk that it writes to" {
		t.Errorf("%+v", outage)
	}
}

func await(t *testing.T, condition func() bool) {
	t.Helper()
	for range 1000 {
		if condition() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("gave up waiting")
}

func TestTheOldestIsDropped(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.answer(http.StatusUnauthorized, `{"error":"authorization failed"}`)
	var warnings said
	sender := NewSender(config(t, "INFLUX", s.URL, "INFLUX_PASSWORD", "wrong"), Limits{Batches: 3, Bytes: 1 << 20}, warnings.add)
	for second := int64(100); second < 110; second++ {
		sender.Send(batchOf(second))
	}
	await(t, func() bool { return len(warnings.all()) == 1 && sender.Outage().Missing.Count() == 7 })
	s.answer(http.StatusNoContent, "")
	await(t, func() bool { return strings.Count(s.text(), "\n") == 3 })
	outage := sender.Close()
	if got := outage.Missing.String(); got != "100-106" {
		t.Error(got)
	}
	if want := "InfluxDB at " + s.URL + " refuses the login (401: authorization failed); mend INFLUX_USERNAME and INFLUX_PASSWORD, or INFLUX_TOKEN"; outage.Warning != want || len(warnings.all()) != 1 {
		t.Errorf("%q", warnings.all())
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
	if got := sender.Close().Missing.Count(); got != 10 {
		t.Errorf("%d seconds are missing", got)
	}
}

func TestWhatIsRefusedDoesNotBlockTheRest(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.answer(http.StatusBadRequest, `{"error":"partial write: field type conflict dropped=1"}`)
	var warnings said
	sender := NewSender(config(t, "INFLUX", s.URL), roomy, warnings.add)
	sender.Send(batchOf(7))
	await(t, func() bool { return len(warnings.all()) == 1 })
	s.answer(http.StatusNoContent, "")
	sender.Send(batchOf(8))
	if outage := sender.Close(); outage.Missing.String() != "7-7" {
		t.Errorf("%+v", outage)
	}
	if got := s.text(); got != "m,testid=t count=8i 8\n" {
		t.Error(got)
	}
}

func TestNobodyWaitsForASlowServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.hold = make(chan struct{})
	defer close(s.hold)
	var warnings said
	sender := NewSender(config(t, "INFLUX", s.URL), roomy, warnings.add)
	start := time.Now()
	for second := range int64(30) {
		sender.Send(batchOf(second))
	}
	if took := time.Since(start); took > Timeout/2 {
		t.Errorf("to send took %v", took)
	}
	outage := sender.Close()
	if took := time.Since(start); took > FlushLimit+Timeout {
		t.Errorf("to close took %v", took)
	}
	if outage.Missing.Count() != 30 || !strings.Contains(outage.Warning, "does not answer within 2s") {
		t.Errorf("%+v", outage)
	}
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
	outage := sender.Close()
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
		{403, `{"error":"no"}`, "lets nothing be written to the database windtunnel (403: no); grant it to the login"},
		{404, `{"error":"database not found: \"windtunnel\""}`, `has no database windtunnel (404: database not found: "windtunnel"); make it, or mend INFLUX_DATABASE`},
		{404, `{"code":"not found","message":"no bucket"}`, "has no database windtunnel (404: no bucket); make it, or mend INFLUX_DATABASE"},
		{413, ``, "finds a second's points too long (413); raise its max-body-size"},
		{200, `<html>`, "answers as no InfluxDB does (200); mend INFLUX"},
		{302, ``, "answers as no InfluxDB does (302); mend INFLUX"},
	} {
		s := newServer(t)
		s.answer(c.status, c.body)
		trouble := newClient(config(t, "INFLUX", s.URL)).post(t.Context(), batchOf(1).compressed())
		if trouble == nil || trouble.line != "InfluxDB at "+s.URL+" "+c.want {
			t.Errorf("%d: %v", c.status, trouble)
		}
	}
}

func TestWhoeverAnswersIsUp(t *testing.T) {
	for status, want := range map[int]bool{200: true, 204: true, 401: true, 404: false, 503: false} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/ping" {
				t.Error(r.URL)
			}
			w.WriteHeader(status)
		}))
		if got := config(t, "INFLUX", s.URL).Answers(t.Context()); got != want {
			t.Errorf("%d: %v", status, got)
		}
		s.Close()
		if config(t, "INFLUX", s.URL).Answers(t.Context()) {
			t.Errorf("%d: it answers when it is gone", status)
		}
	}
}
