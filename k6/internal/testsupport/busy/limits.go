// SPDX-License-Identifier: AGPL-3.0-only

// Package busy lets a busy machine decide no test: it measures what others use, tries a time again, and lengthens waits.
package busy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// limits are the same for tests in Go, Rust and JavaScript: tests/support/others.js, timely.js and patience.js describe them.
type limits struct {
	BusyPercent  float64 `json:"busy_percent"`  // of all CPUs, over a whole test
	BurstPercent float64 `json:"burst_percent"` // of all CPUs, in BurstS
	BurstS       float64 `json:"burst_s"`
	SampleMS     float64 `json:"sample_ms"`
	Tries        int     `json:"tries"`
	LastBeginsS  float64 `json:"last_begins_s"` // no try begins later after the first one
	UsualMS      float64 `json:"usual_ms"`      // time that slowness()'s computation takes on an idle machine of 2024
	MostSlowness float64 `json:"most_slowness"`
}

// written reads the limits once. A test runs in the folder of its package, at some depth of the repository.
var written = sync.OnceValue(func() limits {
	const name = "tests/support/busy.json"
	for up := "."; len(up) < 64; up = filepath.Join("..", up) {
		text, err := os.ReadFile(filepath.Join(up, name))
		if err != nil {
			continue
		}
		var read limits
		if err := json.Unmarshal(text, &read); err != nil {
			panic(fmt.Sprintf("%s: %v", name, err))
		}
		return read
	}
	panic("there is no " + name + " above this package")
})

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
