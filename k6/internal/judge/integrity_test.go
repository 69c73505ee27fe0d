// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"testing"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/record"
)

// said is a reported amount.
func said(amount *int64) Amount { return Amount{Said: amount} }

// changed is a term for a counter that changes() records.
func changed(change, outcome string, times float64) Term {
	return Term{Metric: "user_changes", Tags: map[string]string{"change": change, "outcome": outcome}, Times: times}
}

// changes is a record of a number of changes by kind: sent, done and refused.
func changes(all map[string][3]float64) *record.Record {
	r := record.New()
	for change, counts := range all {
		for i, outcome := range []string{"sent", "done", "refused"} {
			r.Series("user_changes", metrics.Counter, map[string]string{"change": change, "outcome": outcome}).Add(counts[i])
		}
	}
	return r
}

func TestRowsThatAreStoredAreJudgedByWhatWasReported(t *testing.T) {
	created := []Term{changed("created", "done", 1)}
	unclear := []Term{changed("created", "sent", 1), changed("created", "done", -1), changed("created", "refused", -1)}
	deleted := changed("deleted", "done", -1)
	ten := map[string][3]float64{"created": {10, 10, 0}}
	for _, c := range []struct {
		about   string
		changes map[string][3]float64
		fact    Fact
		want    string // as in the result
	}{
		{"as reported", ten, Fact{Found: said(p(int64(10))), Reported: Amount{Counted: created}, Slack: unclear}, `10 10 true "10, as reported"`},
		{"lost", ten, Fact{Found: said(p(int64(9))), Reported: Amount{Counted: created}, Slack: unclear}, `9 10 false "9 found, 10 reported"`},
		{"too many", ten, Fact{Found: said(p(int64(11))), Reported: Amount{Counted: created}}, `11 10 false "11 found, 10 reported"`},
		{"one less that was deleted", map[string][3]float64{"created": {10, 10, 0}, "deleted": {1, 1, 0}},
			Fact{Found: said(p(int64(9))), Reported: Amount{Counted: append(created, deleted)}}, `9 9 true "9, as reported"`},
		{"as many as got no clear answer", map[string][3]float64{"created": {10, 8, 1}},
			Fact{Found: said(p(int64(9))), Reported: Amount{Counted: created}, Slack: unclear},
			`9 8 true "9 found, 8 reported; the target may have made 1 more changes that it did not confirm"`},
		{"more than got no clear answer", map[string][3]float64{"created": {10, 8, 1}},
			Fact{Found: said(p(int64(10))), Reported: Amount{Counted: created}, Slack: unclear}, `10 8 false "10 found, 8 reported"`},
		{"lost beside what got no clear answer", map[string][3]float64{"created": {10, 8, 0}},
			Fact{Found: said(p(int64(7))), Reported: Amount{Counted: created}, Slack: unclear, Fewer: []Term{}}, `7 8 false "7 found, 8 reported"`},
		{"fewer, as many as got no clear answer", map[string][3]float64{"created": {10, 10, 0}, "deleted": {2, 0, 0}},
			Fact{Found: said(p(int64(8))), Reported: Amount{Counted: created}, Slack: unclear, Fewer: []Term{changed("deleted", "sent", 1)}},
			`8 10 true "8 found, 10 reported; the target may have made 2 more changes that it did not confirm"`},
		{"nothing was done", nil, Fact{Found: said(p(int64(0))), Reported: Amount{Counted: created}}, `0 0 true "0, as reported"`},
		{"others came", nil, Fact{Found: said(p(int64(8))), Reported: said(p(int64(7))), MayGrow: true}, `8 7 true "8, 1 more than before the run: other clients added them"`},
		{"others went", nil, Fact{Found: said(p(int64(6))), Reported: said(p(int64(7))), MayGrow: true}, `6 7 false "6 found, 7 reported"`},
		{"others went from a panel that others use", nil, Fact{Found: said(p(int64(6))), Reported: said(p(int64(7))), MayShrink: true},
			`6 7 true "6, 1 fewer than before the run: other clients removed them"`},
		{"others stayed", nil, Fact{Found: said(p(int64(7))), Reported: said(p(int64(7))), MayGrow: true}, `7 7 true "7, as reported"`},
		{"left", nil, Fact{Found: said(p(int64(2))), Reported: said(p(int64(0)))}, `2 0 false "2 found, 0 reported"`},
		{"nobody looked afterwards", ten, Fact{Reported: Amount{Counted: created}}, `null 10 null "could not be counted"`},
		{"nobody looked before", nil, Fact{Found: said(p(int64(7))), MayGrow: true}, `7 null null "could not be counted"`},
	} {
		c.fact.Check, c.fact.Source = "users", "sql"
		isLine(t, c.about, integrityOf(changes(c.changes), []Fact{c.fact}), c.want)
	}
	if lines := integrityOf(record.New(), nil); lines != nil {
		t.Error(lines)
	}
}

func TestQueriesThatGotThroughAreJudgedByThoseThatOughtToHave(t *testing.T) {
	for _, c := range []struct {
		found, expected, slack float64
		want                   string
	}{
		{100, 100, 0, `100 100 true "as many as expected"`},
		{110, 100, 0, `110 100 false "the server got 10 more queries than expected"`},
		{95, 100, 0, `95 100 false "5 queries were answered from a cache"`},
		{95, 100, 5, `95 100 true "as many as expected"`},
		{105, 100, 5, `105 100 true "as many as expected"`},
		{105, 100, 4, `105 100 false "the server got 5 more queries than expected"`},
		{0, 0, 0, `0 null null "nothing was measured"`},
		{3, 0, 0, `3 null null "nothing was measured"`},
	} {
		r := record.New()
		term := func(name string, count float64) []Term {
			tags := map[string]string{"operation": "cached"}
			// Two runners, or two rounds.
			r.Series(name, metrics.Counter, tags).Add(count - 1)
			r.Series(name, metrics.Counter, tags).Add(1)
			r.Series(name, metrics.Counter, map[string]string{"operation": "uncached"}).Add(1000)
			return []Term{{Metric: name, Tags: tags, Times: 1}}
		}
		fact := Fact{Check: "upstream queries, cached", Source: "dns",
			Found: Amount{Counted: term("queries", c.found)}, Reported: Amount{Counted: term("expected", c.expected)}, Slack: term("slack", c.slack)}
		isLine(t, c.want, integrityOf(r, []Fact{fact}), c.want)
	}
}

// isLine checks one line: found, reported, ok and the detail, as in the result's JSON.
func isLine(t *testing.T, about string, lines any, want string) {
	t.Helper()
	text, err := json.Marshal(lines)
	if err != nil {
		t.Fatal(err)
	}
	var read []struct{ Found, Reported, OK, Detail json.RawMessage }
	if err := json.Unmarshal(text, &read); err != nil || len(read) != 1 {
		t.Fatal(string(text), err)
	}
	if got := string(read[0].Found) + " " + string(read[0].Reported) + " " + string(read[0].OK) + " " + string(read[0].Detail); got != want {
		t.Errorf("%s: %s, want %s", about, got, want)
	}
}

func TestAGrowthIsJudgedByItsBound(t *testing.T) {
	p := func(value int64) *int64 { return &value }
	yes, no := true, false
	for _, c := range []struct {
		found *int64
		holds *bool
		says  string
	}{
		{p(64), &yes, "at most 64, and the bound is 64"},
		{p(65), &no, "at least 65, and the bound is 64"},
		{nil, nil, "cannot tell: a longer run would narrow the interval (CYCLES, IDLE_S)"},
	} {
		facts := []Fact{{Check: "growth", Source: processes, Found: said(c.found), Reported: said(p(64))}}
		line := integrityOf(record.New(), facts)[0]
		if line.Detail != c.says || (line.OK == nil) != (c.holds == nil) || line.OK != nil && *line.OK != *c.holds {
			t.Errorf("%+v", line)
		}
	}
}
