// SPDX-License-Identifier: AGPL-3.0-only

package cpus

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Share is how many CPUs' worth of time this process may use: its allowed CPUs, or less if its container has a quota.
func Share() float64 { return min(float64(len(Allowed())), quota("/sys/fs/cgroup")) }

// noQuota is larger than any number of CPUs.
const noQuota = 1 << 20

// quota is the CPU quota of the control group that a container sees as its root; noQuota without a quota.
func quota(root string) float64 {
	if fields := words(root, "cpu.max"); len(fields) == 2 { // cgroup version 2
		return ratio(fields[0], fields[1])
	}
	most, period := words(root, "cpu/cpu.cfs_quota_us"), words(root, "cpu/cpu.cfs_period_us")
	if len(most) == 1 && len(period) == 1 {
		return ratio(most[0], period[0])
	}
	return noQuota
}

func words(root, name string) []string {
	text, _ := os.ReadFile(filepath.Join(root, name)) // a missing file means no quota
	return strings.Fields(string(text))
}

// ratio is a quota in CPUs; max and -1 mean no quota.
func ratio(quota, period string) float64 {
	most, err := strconv.ParseFloat(quota, 64)
	of, periodErr := strconv.ParseFloat(period, 64)
	if err != nil || periodErr != nil || most <= 0 || of <= 0 {
		return noQuota
	}
	return most / of
}
