// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"windtunnel/k6/internal/influx"
)

func TestStreamWritesValuesAndChanges(t *testing.T) {
	var lines []string
	status := http.StatusNoContent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		text, _ := io.ReadAll(body)
		lines = append(lines, strings.Split(strings.TrimSpace(string(text)), "\n")...)
		w.WriteHeader(status)
	}))
	defer server.Close()
	config, err := influx.FromEnvironment(func(name string) string {
		return map[string]string{"INFLUX": server.URL, "INFLUX_TOKEN": "t"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	h := History{Points: made(10, []string{"p50", "p99"}, func(_, point int) float64 { return float64(1 + point/5) })}
	h.Class = h.Points[0].Class
	groups := h.Groups()
	groups[0].Series[0].Changes = []Change{{Index: 5, P: 1e-9}}
	groups[0].Series[0].takeMeans()
	groups[0].Series[1].Creeps = []Creep{{First: 0, Last: 9, From: 1, To: 2, P: 1e-3}}
	if warning := Stream(config, h, groups); warning != "" {
		t.Fatal(warning)
	}
	count := map[string]int{}
	for _, line := range lines {
		name, _, _ := strings.Cut(line, ",")
		count[name]++
		if !strings.Contains(line, ",class="+h.Class.Key()) || !strings.Contains(line, ",metric=p") {
			t.Errorf("a point without its tags: %s", line)
		}
	}
	if count["trend"] != 20 || count["trend_changes"] != 2 {
		t.Errorf("written: %v", count)
	}
	status = http.StatusUnauthorized
	if warning := Stream(config, h, groups); warning == "" || strings.Contains(warning, "\n") {
		t.Errorf("of a login that is refused it says %q", warning)
	}
}
