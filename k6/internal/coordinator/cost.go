// SPDX-License-Identifier: AGPL-3.0-only

package coordinator

import (
	"time"

	"windtunnel/k6/internal/cpus"
	"windtunnel/k6/internal/run"
)

// cost is the CPU time of the coordinator's process, from the common start of the load until the last load ended.
type cost struct {
	begun        bool
	before, used float64 // seconds
	lasted       time.Duration
}

// beginCost runs when the load begins.
func (c *Coordinator) beginCost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cost.begun, c.cost.before = true, cpus.Used()
}

// noteCost takes the final CPU time when the last load has ended. The caller holds mu.
func (c *Coordinator) noteCost() {
	if c.cost.begun && c.cost.lasted == 0 && c.allLoaded() {
		c.cost.used, c.cost.lasted = cpus.Used()-c.cost.before, time.Since(c.start)
	}
}

// Cost is the CPU time of the coordinator's process during the load. program is the name of that process, which may also
// do other work. It is nil if no load began and ended.
func (c *Coordinator) Cost(program string) *run.Coordinator {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cost.lasted == 0 {
		return nil
	}
	return &run.Coordinator{Program: program, CPUS: c.cost.used, LoadS: c.cost.lasted.Seconds()}
}
