// SPDX-License-Identifier: AGPL-3.0-only

package cpus

import (
	"os"
	"path/filepath"
	"testing"
)

func TestShareIsNoMoreThanAllowed(t *testing.T) {
	if share := Share(); share <= 0 || share > float64(len(Allowed())) {
		t.Error(share)
	}
}

func TestQuotaOfAContainer(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  float64
	}{
		{map[string]string{}, noQuota},
		{map[string]string{"cpu.max": "40000 100000\n"}, 0.4},
		{map[string]string{"cpu.max": "max 100000\n"}, noQuota},
		{map[string]string{"cpu/cpu.cfs_quota_us": "150000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1.5},
		{map[string]string{"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, noQuota},
	} {
		root := t.TempDir()
		for name, text := range c.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := quota(root); got != c.want {
			t.Errorf("%v: %v, want %v", c.files, got, c.want)
		}
	}
}
