// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/judge"
)

// withSidecar is a test whose script has a sidecar with these answers by method and path. An answer that begins with a number has this
// status.
func withSidecar(t *testing.T, answers map[string]string) (x test, asked *[]string) {
	t.Helper()
	asked = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = append(*asked, strings.TrimSpace(r.Method+" "+r.URL.String()+" "+string(body)))
		answer, ok := answers[r.Method+" "+r.URL.Path]
		var status int
		if n, _ := fmt.Sscanf(answer, "%d ", &status); n == 1 || !ok || r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(max(status, 400))
			answer = strings.TrimLeft(answer, "0123456789 ")
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	x = newTest(t)
	x.run(`globalThis.__ENV = { SIDECAR_URL: '` + server.URL + `', SIDECAR_TOKEN: 'secret' }; const trip = new Operation('trip')`)
	x.begin()
	return x, asked
}

// ended has a probe with two kept samples of its `count`.
func ended(count int) map[string]string {
	return map[string]string{
		"POST /probes":                     `{"id":"p1"}`,
		"GET /probes/p1":                   fmt.Sprintf(`{"id":"p1","state":"done","planned":3,"outcome":{"bytes":7,"series":[{"name":"round_trip","count":%d,"kept":2}]},"error":null}`, count),
		"GET /probes/p1/series/round_trip": `{"values":[1000000,2000000],"ends_unix_us":[1000000000000001,1000000001500250]}`,
		"DELETE /probes/p1":                `{"state":"done"}`,
	}
}

func TestAProbesSamplesReachTheRecordWithTheirOwnTimes(t *testing.T) {
	x, asked := withSidecar(t, ended(2))
	got := x.run(`const [probe] = probes([{ kind: 'udp', skipped: undefined }])
trip.samples(probe, 'round_trip'); trip.samples(probe, 'total'); trip.lateness(probe)
JSON.stringify([probe.planned, probe.outcome.bytes, probe.values.round_trip, probe.ends.round_trip, probe.values.total ?? null, Object.keys(probe.ends),
  quantile([probe, null], 'round_trip'), quantile([probe, probe, undefined], 'round_trip', 0.5), quantile([probe], 'total')])`)
	if want := `[3,7,[1000000,2000000],[1000000000000.001,1000000001500.25],null,["round_trip"],1.5,1,null]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var ends []int64
	for _, sample := range x.given() {
		if sample.Metric.Name == "operation_ms" {
			ends = append(ends, sample.Time.UnixMicro())
		}
	}
	if !slices.Equal(ends, []int64{1000000000000001, 1000000001500250}) {
		t.Error(ends)
	}
	want := []string{`POST /probes {"kind":"udp"}`, "GET /probes/p1?wait_s=20", "GET /probes/p1/series/round_trip?from=0&limit=200000", "DELETE /probes/p1"}
	if !slices.Equal(*asked, want) {
		t.Errorf("%q", *asked)
	}
}

func TestAFailedProbeEndsTheRunWithOneLine(t *testing.T) {
	refused := map[string]string{"POST /probes": `400 {"error":"count: 0 is out of bounds","mend":"give 1 or more"}`}
	lost := ended(2)
	delete(lost, "DELETE /probes/p1")
	lost["GET /probes/p1/series/round_trip"] = `{"values":[],"ends_unix_us":[]}`
	for want, answers := range map[string]map[string]string{
		"test aborted: sidecar: count: 0 is out of bounds; give 1 or more":                                   refused,
		"test aborted: a probe took 9 samples, but at most 2 are kept: set fewer operations or a lower RATE": ended(9),
		"test aborted: sidecar: series round_trip ends at 0 of 2 samples":                                    lost,
		"test aborted: sidecar: the sidecar answered 400 Bad Request":                                        {},
	} {
		x, _ := withSidecar(t, answers)
		if _, err := x.VU.RuntimeField.RunString(`probes([{ count: 0 }])`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	x, _ := withSidecar(t, nil)
	if _, err := x.VU.RuntimeField.RunString(`__ENV.SIDECAR_URL = 'http://127.0.0.1:1'; probes([{}])`); err == nil ||
		!strings.Contains(err.Error(), "test aborted: the sidecar ended or does not answer (dial: connection refused)") {
		t.Error(err)
	}
}

func TestAProbeThatMeasuredNothingSaysWhy(t *testing.T) {
	answers := ended(0)
	answers["GET /probes/p1"] = `{"id":"p1","state":"failed","planned":9,"outcome":null,"error":{"kind":"dns","message":"no such host"}}`
	x, _ := withSidecar(t, answers)
	if got := x.run(`JSON.stringify(probes([{}]))`); got != `[{"id":"p1","state":"failed","planned":9,"outcome":null,"error":{"kind":"dns","message":"no such host"},"values":{},"ends":{},"series":{}}]` {
		t.Error(got)
	}
}

func TestAnswersOfARequest(t *testing.T) {
	x, _ := withSidecar(t, map[string]string{"GET /host": `{"cpus":2}`, "POST /start": `501 {"error":"no root","cause":{"process":"a"}}`})
	for text, want := range map[string]string{
		`request('GET', '/host', undefined, 1000)`:                                           `{"answer":{"cpus":2},"error":null,"status":200}`,
		`requestAll('POST', [{ path: '/start' }], 1000)`:                                     `[{"answer":{"error":"no root","cause":{"process":"a"}},"error":"no root","status":501}]`,
		`requestAll('POST', [], 1000)`:                                                       `[]`,
		`__ENV.SIDECAR_URL = 'http://127.0.0.1:1', request('GET', '/host', undefined, 1000)`: `{"answer":null,"error":"dial: connection refused","status":0}`,
	} {
		x.run(`url = globalThis.url ?? __ENV.SIDECAR_URL; __ENV.SIDECAR_URL = url`)
		if got := x.run(`JSON.stringify((` + text + `))`); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestWhatWasWatchedIsInTheEvidence(t *testing.T) {
	usage := `{"duration_s":2.5,"processes":[],"new_field":1%s}`
	rest := `[{"name":"relay","cpu_percent":1.5,"wakeups_per_s":3}]`
	for name, answers := range map[string]map[string]string{
		"the window sampled the idle processes": {"GET /windows/w1": fmt.Sprintf(usage, `,"at_rest":`+rest), "GET /windows/w1/cpus": `[{"at_unix_ms":5,"span_s":1,"cpus":[]}]`},
		"they are sampled now": {"GET /windows/w1": fmt.Sprintf(usage, ``), "GET /windows/w1/cpus": `[{"at_unix_ms":5,"span_s":1,"cpus":[]}]`,
			"POST /instances/i1/rest": `{"processes":` + rest + `}`},
	} {
		x, _ := withSidecar(t, answers)
		if got := x.run(`String(watch({ window: 'w1', cpus: true, idle: 'i1', rest_s: 0.1 }).duration_s)`); got != "2.5" {
			t.Errorf("%s: %s", name, got)
		}
		e, err := judge.EvidenceOf([]byte(`{"notes":["mine"]}`), x.record)
		if err != nil {
			t.Fatal(err)
		}
		if e.Usage.DurationS != 2.5 || len(e.CPUs) != 1 || len(e.RestAfter) != 1 || e.RestAfter[0].Name != "relay" || e.Notes[0] != "mine" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	x, _ := withSidecar(t, nil)
	if got := x.run(`__ENV.SIDECAR_URL = undefined; JSON.stringify(watch({ window: '', cpus: true, idle: '', rest_s: 0.1 }))`); got != "null" {
		t.Error(got)
	}
}
