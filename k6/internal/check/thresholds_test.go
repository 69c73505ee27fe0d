// SPDX-License-Identifier: AGPL-3.0-only

package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.k6.io/k6/cmd"

	_ "windtunnel/k6/modules/barrier"
	_ "windtunnel/k6/modules/difference" // scripts import it
	_ "windtunnel/k6/modules/environment"
	_ "windtunnel/k6/modules/judge"
	_ "windtunnel/k6/modules/protocols"
	_ "windtunnel/k6/modules/record"
	_ "windtunnel/k6/modules/runner"
	_ "windtunnel/k6/modules/variables"
)

// TestMain makes the test binary act as the k6 that returns a script's operations.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "inspect" {
		cmd.Execute()
		return
	}
	os.Exit(m.Run())
}

// TestThresholdsOfWhatThereIsNot queries the checkout's own scripts.
func TestThresholdsOfWhatThereIsNot(t *testing.T) {
	checkout, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	const pulsar = `"pulsar":{"testbed":{"name":"pulsar-relay"},"auth":{"mode":"login","username":"admin","password_env":"PULSAR_PASSWORD"},"websocket":{"auth":"none"},"thresholds":`
	const dataplane = `"dataplane":{"testbed":{"name":"sing-box-pair"},"testbeds":{"tproxy":{"name":"tproxy"}},"auth":{"mode":"none"},"thresholds":`
	const protocols = `"protocols":{"testbed":{"name":"protocols","variables":{"protocol":"socks"}},"auth":{"mode":"none"},"thresholds":`
	bound := `{"p(95)":9}`
	for systems, want := range map[string]string{
		pulsar + `{"ingest":{"publish":` + bound + `,"publish_open":` + bound + `}}}`:                                              "",
		dataplane + `{"tproxy":{"udp_burst":` + bound + `},"concurrency":{"request_1000":` + bound + `}}}`:                         "",
		protocols + `{"matrix":{"socks":` + bound + `}}}`:                                                                          "",
		pulsar + `{"ingst":{"publish":` + bound + `}}}`:                                                                            "systems.pulsar.thresholds.ingst: there is no such scenario; there are: broadcast, bulk, concurrent, delivery, ingest, poll, restart, slow, subscribe; did you mean ingest?",
		pulsar + `{"ingest":{"pubish":` + bound + `}}}`:                                                                            "systems.pulsar.thresholds.ingest.pubish: there is no such operation; there are: publish, publish_open; did you mean publish?",
		protocols + `{"chain":{"sock":` + bound + `}}}`:                                                                            "systems.protocols.thresholds.chain.sock: there is no such operation; there are: ",
		`"dataplane":{"url":"socks5://127.0.0.1:1","auth":{"mode":"none"},"thresholds":{"queue-sweep":{"value_8":` + bound + `}}}`: "systems.dataplane.thresholds.queue-sweep: its operations are unknown: SWEEP is not set",
	} {
		path := filepath.Join(t.TempDir(), "here.json")
		text := `{"schema":"windtunnel.environment/1","name":"here","systems":{` + systems + `}}`
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		problems := File(checkout, path, "here.json")
		switch {
		case want == "" && len(problems) > 0, want != "" && len(problems) != 1:
			t.Errorf("%v, want %q", problems, want)
		case want != "" && !strings.HasPrefix(problems[0], "here.json: "+want):
			t.Errorf("%q, want %q", problems[0], want)
		}
	}
}
