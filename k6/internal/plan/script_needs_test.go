// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"strings"
	"testing"
)

func TestOurScriptsSayWhatTheyNeed(t *testing.T) {
	all, err := Scenarios("../../..")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, s := range all {
		if needs := s.needs(); needs.Testbed != "" {
			found[s.String()] = strings.Join(append([]string{needs.Testbed}, needs.Chooses...), " ")
		}
	}
	for name, needs := range map[string]string{
		"dataplane/queue-sweep": anyTestbed, "dataplane/tproxy": ownTestbed, "pulsar/restart": anyTestbed, "users/live": ownTestbed,
		"protocols/matrix": "any protocol engine", "protocols/traits": "any protocol engine", "protocols/inner-tls": "any protocol engine", "protocols/http3": "any protocol engine", "protocols/interop": "any protocol engine",
		"link/protocols": "any protocol engine", "link/loss": "any protocol engine",
		"link/loaded": "any protocol engine", "link/change": "any protocol engine",
	} {
		if found[name] != needs {
			t.Errorf("%s: %s", name, found[name])
		}
	}
	if _, ok := found["pulsar/ingest"]; ok || len(found) < 14 {
		t.Error(found)
	}
}
