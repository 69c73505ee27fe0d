// SPDX-License-Identifier: AGPL-3.0-only

package result

// WindowCPU is the CPU time of the system from the first start of the load to the end of the quiet period after it.
type WindowCPU struct {
	WindowS      float64 `json:"window_s"`
	QuietS       float64 `json:"quiet_s"`
	SystemS      float64 `json:"system_s"`
	QuietSystemS float64 `json:"quiet_system_s"`
}
