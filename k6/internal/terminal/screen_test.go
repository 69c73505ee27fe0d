// SPDX-License-Identifier: AGPL-3.0-only

package terminal

import (
	"bytes"
	"testing"
)

func TestScreen(t *testing.T) {
	var out, errOut bytes.Buffer
	s := New(&out, &errOut, true, false, 20)
	s.Progress("a line that is much longer than the screen")
	s.Error("fault")
	s.Line("next")
	if got := out.String(); got != "\r\x1b[Ka line that is muc…\r\x1b[Knext\n" {
		t.Errorf("%q", got)
	}
	out.Reset()
	s = New(&out, &errOut, false, false, 0)
	s.Progress("quiet")
	s.spoke = s.spoke.Add(-quietFor)
	s.Progress("alive")
	if got := out.String(); got != "alive\n" {
		t.Errorf("%q", got)
	}
}
