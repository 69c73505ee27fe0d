// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"go.k6.io/k6/metrics"
)

// filled has each kind of series; the trends have latencies like those of a relay.
func filled(samples, mostExact int) *Record {
	r := New()
	r.mostExact = mostExact
	random := rand.New(rand.NewPCG(1, 2))
	for range samples {
		step := map[string]string{"operation": "send", "step": []string{"0", "1"}[random.IntN(2)]}
		r.Series("operation_ms", metrics.Trend, step).Add(math.Exp(random.NormFloat64()))
	}
	r.Series("operation_ms", metrics.Trend, map[string]string{"operation": "clock"}).Add(-3.25)
	r.Series("operation_ms", metrics.Trend, map[string]string{"operation": "none"})
	r.Series("operation_errors", metrics.Counter, map[string]string{"operation": "send", "kind": "timeout"}).Add(3)
	r.Series("operation_failed", metrics.Rate, map[string]string{"operation": "send"}).Add(1)
	r.Series("operation_clock_ms", metrics.Gauge, map[string]string{"operation": "send"}).Add(70.5)
	return r
}

func written(t *testing.T, r *Record) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := r.Write(&file, json.RawMessage(`{"load_s":2}`)); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func opened(file []byte) (*Record, json.RawMessage, error) {
	return Read(bytes.NewReader(file), int64(len(file)))
}

func TestAFileHoldsEveryFigureToTheLastDigit(t *testing.T) {
	for _, mostExact := range []int{MostExact, 1000} {
		r := filled(50_000, mostExact)
		got, evidence, err := opened(written(t, r))
		if err != nil || string(evidence) != `{"load_s":2}` {
			t.Fatal(string(evidence), err)
		}
		for _, name := range []string{
			"operation_ms{operation:send}", "operation_ms{operation:send,step:1}", "operation_ms{operation:clock}", "operation_ms{operation:none}",
			"operation_errors{operation:send,kind:timeout}", "operation_failed{operation:send}", "operation_clock_ms{operation:send}",
		} {
			want, had := r.Values(Parse(name))
			if values, has := got.Values(Parse(name)); !had || !has || !maps.Equal(values, want) {
				t.Errorf("%s: %v, want %v", name, values, want)
			}
		}
	}
}

func TestAFileIsTheSameWhateverCameFirst(t *testing.T) {
	forth, back := New(), New()
	for n := range 100 {
		forth.Series("operation_ms", metrics.Trend, map[string]string{"operation": string(rune('a' + n%5))}).Add(float64(n))
		n = 99 - n
		back.Series("operation_ms", metrics.Trend, map[string]string{"operation": string(rune('a' + n%5))}).Add(float64(n))
	}
	if !bytes.Equal(written(t, forth), written(t, back)) {
		t.Error("the order in which samples came shows")
	}
}

func TestAFileThatIsCutShortOrDamagedIsRefused(t *testing.T) {
	whole := written(t, filled(2000, MostExact))
	for _, length := range []int{0, 1, 100, len(whole) / 2, len(whole) - 1} {
		if _, _, err := opened(whole[:length]); err == nil {
			t.Errorf("%d of %d bytes are read", length, len(whole))
		}
	}
	for at := 0; at < len(whole); at += len(whole) / 20 {
		damaged := slices.Clone(whole)
		damaged[at] ^= 0x55
		if _, _, err := opened(damaged); err == nil {
			t.Errorf("byte %d may be anything", at)
		}
	}
	if _, _, err := opened([]byte("{}")); err == nil {
		t.Error("what is no record is read")
	}
}

func TestAHistogramIsWithinItsError(t *testing.T) {
	exact, rough := filled(200_000, MostExact), filled(200_000, 10)
	send := map[string]string{"operation": "send"}
	want, _ := exact.Values("operation_ms", send)
	got, _ := rough.Values("operation_ms", send)
	for name := range want {
		if math.Abs(got[name]-want[name]) > Error*want[name] {
			t.Errorf("%s: %g, exactly %g", name, got[name], want[name])
		}
	}
	for _, name := range []string{"count", "min", "max"} {
		if got[name] != want[name] {
			t.Errorf("%s: %g, exactly %g", name, got[name], want[name])
		}
	}
}

func TestOtherEvidence(t *testing.T) {
	r := filled(100, MostExact)
	var file bytes.Buffer
	whole := written(t, r)
	err := Rewrite(bytes.NewReader(whole), int64(len(whole)), &file, func(evidence json.RawMessage) (json.RawMessage, error) {
		return bytes.ReplaceAll(evidence, []byte("2"), []byte("3")), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, evidence, err := opened(file.Bytes())
	if err != nil || string(evidence) != `{"load_s":3}` {
		t.Fatal(string(evidence), err)
	}
	if values, _ := got.Values("operation_ms", nil); values["count"] != 101 {
		t.Error(values)
	}
}
