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

func TestQuotaOfItsGroupsAndTheirParents(t *testing.T) {
	const scope = "0::/user.slice/run-1.scope\n"
	for _, c := range []struct {
		own   string
		files map[string]string
		want  float64
	}{
		{"", map[string]string{}, noQuota},
		{"", map[string]string{"cpu.max": "40000 100000\n"}, 0.4}, // a container
		{"", map[string]string{"cpu.max": "max 100000\n"}, noQuota},
		{"", map[string]string{"cpu/cpu.cfs_quota_us": "150000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1.5},
		{"", map[string]string{"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, noQuota},
		{scope, map[string]string{"user.slice/run-1.scope/cpu.max": "50000 100000\n"}, 0.5},
		{scope, map[string]string{"user.slice/cpu.max": "30000 100000\n", "user.slice/run-1.scope/cpu.max": "50000 100000\n"}, 0.3},
		{scope, map[string]string{"user.slice/cpu.max": "60000 100000\n", "user.slice/run-1.scope/cpu.max": "max 100000\n"}, 0.6},
		{scope, map[string]string{"user.slice/run-2.scope/cpu.max": "50000 100000\n"}, noQuota},
		{"0::/../other\n", map[string]string{"cpu.max": "40000 100000\n"}, 0.4}, // outside of the namespace
		{"4:memory:/m\n2:cpu,cpuacct:/a/b\n", map[string]string{"cpu/a/cpu.cfs_quota_us": "150000\n", "cpu/a/cpu.cfs_period_us": "100000\n"}, 1.5},
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
		if got := quota(root, c.own); got != c.want {
			t.Errorf("%q, %v: %v, want %v", c.own, c.files, got, c.want)
		}
	}
}
