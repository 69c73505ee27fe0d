// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"strings"
	"testing"
)

func TestScenariosWithOwnLinksAreLeftOutWithoutLinks(t *testing.T) {
	far := Scenario{System: "far", Name: "a", OwnLinks: true}
	near := Scenario{System: "near", Name: "a"}
	without := Asked{Sidecar: "/nothing"}
	p := Plan{Scenarios: []Scenario{far, near, {System: "far", Name: "b", OwnLinks: true}}}
	if f := p.checkOwnLinks(without); f != nil || len(p.Scenarios) != 1 || p.Scenarios[0].String() != near.String() {
		t.Errorf("%v %v", f, p.Scenarios)
	}
	if len(p.LeftOut) != 1 || !strings.HasPrefix(p.LeftOut[0], "scenarios of far are left out: LINK=rtt:1ms: ") {
		t.Errorf("%q", p.LeftOut)
	}
	p = Plan{Scenarios: []Scenario{far}}
	if f := p.checkOwnLinks(without); f == nil || f.Code != 4 {
		t.Errorf("%v", f)
	}
	p = Plan{Scenarios: []Scenario{near}}
	if f := p.checkOwnLinks(without); f != nil {
		t.Errorf("%v", f)
	}
}
