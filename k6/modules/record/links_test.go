// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestLinkUses adds what two links of a row carried. A loss that is unknown for one of them stays unknown.
func TestLinkUses(t *testing.T) {
	answers := map[string]string{
		"/instances/a/link": `{"real_time":true,"failed":null,"up":{"sent":5,"own_unread":1,"queued_bytes_most":7},"down":{"sent":1}}`,
		"/instances/b/link": `{"real_time":false,"failed":null,"up":{"sent":2,"own_unread":3,"queued_bytes_most":4,"new":6},"down":{"sent":null}}`,
		"/instances/c/link": `{"real_time":true,"failed":"it ended","up":{"sent":2,"own_unread":null,"queued_bytes_most":9},"down":{"sent":8}}`,
	}
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answers[r.URL.Path] == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(answers[r.URL.Path]))
	}))
	defer far.Close()
	for name, one := range map[string]struct{ kept, want string }{
		"a row without an entry":    {`[]`, `[]`},
		"two links":                 {`['a', 'b']`, `[{"name":"row","links":2,"real_time":false,"failed":null,"up":{"new":6,"own_unread":4,"queued_bytes_most":7,"sent":7},"down":{"sent":null}}]`},
		"unknown in the second":     {`['a', 'c']`, `[{"name":"row","links":2,"real_time":true,"failed":"it ended","up":{"own_unread":null,"queued_bytes_most":9,"sent":7},"down":{"sent":9}}]`},
		"unknown in the first":      {`['c', 'a']`, `[{"name":"row","links":2,"real_time":true,"failed":"it ended","up":{"own_unread":null,"queued_bytes_most":9,"sent":7},"down":{"sent":9}}]`},
		"its process has no answer": {`['gone']`, `[{"name":"row","links":1,"real_time":false,"failed":"the process that measured it no longer answers","up":{},"down":{}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTest(t)
			x.run(`var __ENV = { SIDECAR_URL: ` + quoted(far.URL) + ` }`)
			if got := x.run(`for (const id of ` + one.kept + `) keepLink('row', id); JSON.stringify(linkUses(''))`); got != one.want {
				t.Errorf("%s\nwant %s", got, one.want)
			}
		})
	}
	x := newTest(t)
	x.run(`var __ENV = { SIDECAR_URL: ` + quoted(far.URL) + ` }`)
	if got := x.run(`linkUses('a').map(({ name, up }) => [name, up.sent]).join()`); got != "the run's pair,5" {
		t.Error(got)
	}
}

func quoted(text string) string {
	made, _ := json.Marshal(text)
	return string(made)
}
