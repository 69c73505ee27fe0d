// SPDX-License-Identifier: AGPL-3.0-only

package result

// Runner is one of the k6 processes of a run of several. What nobody could tell is nil.
type Runner struct {
	// Number is from 1.
	Number int `json:"number"`
	// Segment is its part of the load, as k6 writes it: 0:1/2.
	Segment string `json:"segment"`
	// Share of the requests that were sent, 0 to 1.
	Share *float64 `json:"share"`
	// CPUPercent is what its process used of one core while the load ran.
	CPUPercent *float64 `json:"cpu_percent"`
	// LateMS is how late it was at P99, of the operation in which it was latest.
	LateMS *float64 `json:"late_ms"`
	// StartOffsetMS is how long after the common start its load began; ClockOffsetMS what its clock was set forward by.
	StartOffsetMS     *float64 `json:"start_offset_ms"`
	ClockOffsetMS     *float64 `json:"clock_offset_ms"`
	DroppedIterations float64  `json:"dropped_iterations"`
	// Record is what it measured; nil where none came.
	Record *RecordFile `json:"record"`
	// OK: its record counts, and it kept up. Detail says why not.
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// RecordFile is a record: its name, its size, and its SHA-256 in hexadecimal.
type RecordFile struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}
