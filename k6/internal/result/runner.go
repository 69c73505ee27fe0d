// SPDX-License-Identifier: AGPL-3.0-only

package result

// Runner is one of several k6 processes of a run. Unknown values are nil.
type Runner struct {
	// Number counts from 1.
	Number int `json:"number"`
	// Segment is its part of the load, in k6's notation: 0:1/2.
	Segment string `json:"segment"`
	// Share is its share of the sent requests, 0 to 1.
	Share *float64 `json:"share"`
	// CPUPercent is its process's CPU share during the load, in percent of one core.
	CPUPercent *float64 `json:"cpu_percent"`
	// LateMS is its lateness at P99 in ms, in its latest operation.
	LateMS *float64 `json:"late_ms"`
	// StartOffsetMS is the start of its load minus the common start; ClockOffsetMS is the coordinator's clock minus its
	// own.
	StartOffsetMS     *float64 `json:"start_offset_ms"`
	ClockOffsetMS     *float64 `json:"clock_offset_ms"`
	DroppedIterations float64  `json:"dropped_iterations"`
	// Record is its record file; nil if none arrived.
	Record *RecordFile `json:"record"`
	// OK says that its record counts, and that it kept up. Detail says why not.
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// RecordFile is a record: its name, its size, and its SHA-256 in hexadecimal.
type RecordFile struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}
