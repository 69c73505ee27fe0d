// SPDX-License-Identifier: AGPL-3.0-only

package result

// Process is the usage of a process during the load. CPUPercent is in percent of one core. PeakAnonBytes is resident
// memory without pages of files; older results lack it, and all fields after it but Exit. PeakOpenFiles is nil on Linux
// before 6.2, too. PeakDescriptors are its kinds close to that moment; nil for other roles than system, and if unknown.
type Process struct {
	Name            string       `json:"name"`
	Role            string       `json:"role"`
	CPUS            float64      `json:"cpu_s"`
	CPUPercent      float64      `json:"cpu_percent"`
	PeakRSSBytes    int64        `json:"peak_rss_bytes"`
	PeakAnonBytes   *int64       `json:"peak_anon_bytes,omitempty"`
	PeakOpenFiles   *int64       `json:"peak_open_files,omitempty"`
	PeakDescriptors *Descriptors `json:"peak_descriptors,omitempty"`
	PeakThreads     *int64       `json:"peak_threads,omitempty"`
	// The context switches and page faults of the process's threads in the measured parts.
	VoluntarySwitches   *int64  `json:"voluntary_switches,omitempty"`
	InvoluntarySwitches *int64  `json:"involuntary_switches,omitempty"`
	MinorFaults         *int64  `json:"minor_faults,omitempty"`
	MajorFaults         *int64  `json:"major_faults,omitempty"`
	Exit                *string `json:"exit"`
}
