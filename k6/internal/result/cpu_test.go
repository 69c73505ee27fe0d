// SPDX-License-Identifier: AGPL-3.0-only

package result

import "testing"

func TestTextSaysWhereTheCPUWent(t *testing.T) {
	processes := []Process{
		{Name: "client", Role: "system", CPUS: 1}, {Name: "server", Role: "system", CPUS: 1.5},
		{Name: "k6", Role: "generator", CPUS: 40}, {Name: "echo", Role: "support", CPUS: 7}, {Name: "total", Role: "total", CPUS: 2.5},
	}
	for _, c := range []struct {
		cpu  *WindowCPU
		want string
	}{
		{nil, ""},
		{
			&WindowCPU{WindowS: 12, QuietS: 2, SystemS: 5, QuietSystemS: 1.25},
			"CPU of the system over the load and 2 s of quiet after it: 5.00 s, of which 2.50 s (50 %) in the measured parts, 1.25 s (25 %) between them, 1.25 s (25 %) in the quiet period",
		},
		{ // two clocks are not read at the same time
			&WindowCPU{WindowS: 12, QuietS: 1, SystemS: 2.5, QuietSystemS: 0.125},
			"CPU of the system over the load and 1 s of quiet after it: 2.50 s, of which 2.38 s (95 %) in the measured parts, 0.00 s (0 %) between them, 0.12 s (5 %) in the quiet period",
		},
	} {
		if text := c.cpu.Text(processes); text != c.want {
			t.Errorf("%q", text)
		}
	}
	idle := &WindowCPU{WindowS: 3, QuietS: 1}
	if text := idle.Text(nil); text != "CPU of the system over the load and 1 s of quiet after it: 0.00 s, of which 0.00 s in the measured parts, 0.00 s between them, 0.00 s in the quiet period" {
		t.Errorf("%q", text)
	}
}
