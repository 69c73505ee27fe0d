// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"testing"
)

// TestAMachineOfUnknownSizeIsNotJudged has a sidecar that does not know the number of CPUs, or how busy they were.
func TestAMachineOfUnknownSizeIsNotJudged(t *testing.T) {
	for host, known := range map[string]bool{
		`{"cpus": 2, "busy_percent": 50}`:    true,
		`{"cpus": null, "busy_percent": 50}`: false,
		`{"cpus": 2, "busy_percent": null}`:  false,
	} {
		var usage Usage
		data := `{"duration_s": 2, "host": ` + host + `, "processes": [{"name": "k6", "role": "generator", "cpu_percent": 90}]}`
		if err := json.Unmarshal([]byte(data), &usage); err != nil {
			t.Fatal(err)
		}
		if got := generatorCPU(&usage, false, false); (got.OK != nil) != known {
			t.Errorf("%s: %+v", host, got)
		}
	}
}
