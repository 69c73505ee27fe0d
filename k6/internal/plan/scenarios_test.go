// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"strings"
	"testing"
)

func TestScenariosInOrder(t *testing.T) {
	all, err := Scenarios("../bench/testdata/root")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range all {
		names = append(names, s.String())
	}
	want := "panel/create pulsar/slow pulsar/passes pulsar/crowded pulsar/doubtful pulsar/fails pulsar/forgets pulsar/garbles pulsar/leaks pulsar/refused"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s", got)
	}
	chosen, err := Select(all, " pulsar/refused , panel,pulsar/refused,")
	if err != nil || len(chosen) != 2 || chosen[0].String() != "panel/create" {
		t.Errorf("%v %v", chosen, err)
	}
}
