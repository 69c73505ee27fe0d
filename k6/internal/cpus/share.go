// SPDX-License-Identifier: AGPL-3.0-only

package cpus

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Share is how many CPUs' worth of time this process may use: its allowed CPUs, or less if one of its control groups has
// a quota.
func Share() float64 {
	own, _ := os.ReadFile("/proc/self/cgroup")
	return min(float64(len(Allowed())), quota("/sys/fs/cgroup", string(own)))
}

// noQuota is larger than any number of CPUs.
const noQuota = 1 << 20

// roots are the groups that a container sees as its own ones, of version 2 and version 1, as /proc/self/cgroup has them.
const roots = "0::/\n1:cpu:/\n"

// quota is the smallest CPU quota of the groups in own, the text of /proc/self/cgroup, and of their parents; noQuota
// without a quota.
func quota(root, own string) float64 {
	least := float64(noQuota)
	for line := range strings.Lines(roots + own) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		top := root
		if controllers != "" { // cgroup version 1
			if !slices.Contains(strings.Split(controllers, ","), "cpu") {
				continue
			}
			top = filepath.Join(root, "cpu")
		}
		for at := path.Clean("/" + group); ; at = path.Dir(at) {
			least = min(least, quotaOf(filepath.Join(top, at)))
			if at == "/" {
				break
			}
		}
	}
	return least
}

func quotaOf(group string) float64 {
	if fields := words(group, "cpu.max"); len(fields) == 2 { // cgroup version 2
		return ratio(fields[0], fields[1])
	}
	most, period := words(group, "cpu.cfs_quota_us"), words(group, "cpu.cfs_period_us")
	if len(most) == 1 && len(period) == 1 {
		return ratio(most[0], period[0])
	}
	return noQuota
}

func words(group, name string) []string {
	text, _ := os.ReadFile(filepath.Join(group, name)) // a missing file means no quota
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
