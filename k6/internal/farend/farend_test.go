// SPDX-License-Identifier: AGPL-3.0-only

package farend

import (
	"encoding/json"
	"maps"
	"testing"

	"windtunnel/k6/internal/record"
)

func counts(t *testing.T, text string) (c Counts) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTwoProbesNeverMakeUpForEachOther(t *testing.T) {
	r := record.New()
	tags := map[string]string{"operation": "tcp", "scenario": "rounds"}
	counts(t, `{"bytes_up": {"least": 100, "most": 100, "found": 90}}`).Record(r, tags)
	counts(t, `{"bytes_up": {"least": 100, "most": 100, "found": 110}, "bytes_down": {"least": 5, "most": null, "found": 9}}`).Record(r, tags)
	sums, recorded := Of(r, "tcp")
	want := map[string]Sum{
		"bytes_up":   {Least: 200, Found: 200, Missing: 10, Beyond: 10},
		"bytes_down": {Least: 5, Found: 9},
	}
	if !recorded || !maps.Equal(sums, want) {
		t.Errorf("%v, want %v", sums, want)
	}
	if tags["count"] != "" {
		t.Error("the given tags were changed")
	}
}

func TestAFarEndThatIsNotOursIsRecordedAsSuch(t *testing.T) {
	r := record.New()
	if _, recorded := Of(r, "tcp"); recorded {
		t.Error("nothing was recorded")
	}
	counts(t, `null`).Record(r, map[string]string{"operation": "tcp"})
	sums, recorded := Of(r, "tcp")
	if !recorded || len(sums) != 0 {
		t.Error(sums, recorded)
	}
	if _, recorded := Of(r, "udp"); recorded {
		t.Error("it is another operation's")
	}
}
