// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

// linkOver is a calibrated link with 90 ms each way and these uses.
func linkOver(uses ...LinkUse) *Link {
	l := &Link{Uses: uses}
	l.About.Text = "far"
	l.About.Settings.Up.DelayNS, l.About.Settings.Down.DelayNS = 90_000_000, 90_000_000
	l.Calibration.OK, l.Calibration.Carries.MbitS = true, 900
	return l
}

func carried(name string, counts LinkCounts) LinkUse {
	if counts.OwnUnread == nil {
		counts.OwnUnread = new(int64(0))
	}
	return LinkUse{Name: name, Links: 1, Up: counts, Down: LinkCounts{Sent: 100, Delivered: 100, OwnUnread: new(int64(0))}}
}

func faults(l *Link) (texts []string) {
	for _, c := range l.checks() {
		if !*c.OK {
			texts = append(texts, c.Check+": "+c.Detail)
		}
	}
	return texts
}

func TestALinkIsBelievedWhereItWasAsAskedAndCarriedAll(t *testing.T) {
	well := LinkCounts{Sent: 100, Delivered: 98, LateSumNS: 98 * 100_000}
	died := "the device is gone"
	for name, tc := range map[string]struct {
		link *Link
		want string
	}{
		"none": {nil, ""},
		"well": {linkOver(carried("trojan", well)), ""},
		"calibrated": {func() *Link {
			l := linkOver()
			l.Calibration.OK, l.Calibration.Wrong = false, []string{"up: the link itself is the bottleneck"}
			return l
		}(), "link far: up: the link itself is the bottleneck"},
		"own loss":                 {linkOver(carried("trojan", LinkCounts{Sent: 100, Delivered: 97, OwnUnread: new(int64(2)), OwnRefused: 1})), "link: trojan: up: the link itself lost 3 of 100 packets"},
		"late":                     {linkOver(carried("trojan", LinkCounts{Sent: 100, Delivered: 100, LateSumNS: 100 * 1_000_000})), "link: trojan: up: packets were late by 1.000 ms on average"},
		"late, yet within the way": {linkOver(carried("trojan", LinkCounts{Sent: 100, Delivered: 100, LateSumNS: 100 * 800_000})), ""},
		"died":                     {linkOver(LinkUse{Name: "trojan", Failed: &died}), "link: trojan: it died: the device is gone"},
	} {
		found := strings.Join(faults(tc.link), "\n")
		if (tc.want == "") != (found == "") || !strings.HasPrefix(found, tc.want) {
			t.Errorf("%s: %q, want %q", name, found, tc.want)
		}
	}
}

func TestAFaultOfTheLinkMakesARunInconclusiveWhateverFailed(t *testing.T) {
	crossed := []result.Threshold{{Operation: "tcp", Metric: "operation_failed", Expression: "rate<=0", OK: false}}
	checks := func(l *Link) (all []result.Validity) {
		for _, c := range l.checks() {
			all = append(all, *c)
		}
		return all
	}
	if found := decide(crossed, checks(linkOver(carried("pair", LinkCounts{Sent: 9, Delivered: 9}))), nil, nil); found.verdict != result.Fail {
		t.Errorf("a link that is well excuses a failure: %s", found.verdict)
	}
	died := "gone"
	if found := decide(crossed, checks(linkOver(LinkUse{Name: "pair", Failed: &died})), nil, nil); found.verdict != result.Inconclusive {
		t.Errorf("a link that died: %s", found.verdict)
	}
}

func TestARowThatItsLinkHasSpoiltIsNoFailureAndAnotherOneIs(t *testing.T) {
	died := "gone"
	link := linkOver(LinkUse{Name: "trojan", Failed: &died}, carried("vless", LinkCounts{Sent: 9, Delivered: 9}))
	broken := func(name string) ProtocolRow {
		row := rowNamed(name, nil)
		row.Baseline = *side("errors")
		return row
	}
	judged := func(rows ...ProtocolRow) string {
		var j Judged
		for _, c := range link.checks() {
			j.Validity = append(j.Validity, *c)
		}
		return ofProtocols(Protocols{Rows: rows}, link, j, result.Pass).verdict
	}
	if v := judged(broken("trojan"), rowNamed("vless", nil)); v != result.Inconclusive {
		t.Errorf("the row whose link died: %s", v)
	}
	if v := judged(rowNamed("trojan", nil), broken("vless")); v != result.Fail {
		t.Errorf("the row whose link was well: %s", v)
	}
	// Behind a wrong link, targets cannot be judged.
	link.Calibration.OK, link.Uses = false, nil
	if v := judged(rowNamed("trojan", side(ranWell), line("latency", missed))); v != result.Inconclusive {
		t.Errorf("a target missed over a link that is not as asked: %s", v)
	}
	if !slices.Contains(causes, meter) {
		t.Error("what a link did is a cause")
	}
}

// TestLossesThatNobodyCouldReadAreNotNone has a sidecar that cannot read the drops of its device.
func TestLossesThatNobodyCouldReadAreNotNone(t *testing.T) {
	use := carried("trojan", LinkCounts{Sent: 100, Delivered: 100})
	if err := json.Unmarshal([]byte(`{"sent": 100, "delivered": 100, "own_unread": null}`), &use.Up); err != nil {
		t.Fatal(err)
	}
	const want = "link: trojan: up: the number of packets that the link itself lost is unknown"
	if got := faults(linkOver(use)); !slices.Contains(got, want) {
		t.Errorf("no %q in %q", want, got)
	}
}
