// SPDX-License-Identifier: AGPL-3.0-only

package coordinator

import (
	"time"

	"windtunnel/k6/internal/cpus"
	"windtunnel/k6/internal/run"
)

// cost is the CPU time of the coordinator's process, from the common start of the load until the load of all had ended.
type cost struct {
	begun        bool
	before, used float64 // seconds
	lasted       time.Duration
}

// beginCost is for when the load begins.
func (c *Coordinator) beginCost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cost.begun, c.cost.before = true, cpus.Used()
}

// noteCost ends it once no load goes on, mu held.
func (c *Coordinator) noteCost() {
	if c.cost.begun && c.cost.lasted == 0 && c.allLoaded() {
		c.cost.used, c.cost.lasted = cpus.Used()-c.cost.before, time.Since(c.start)
	}
}

// Cost is what the coordinator took of the CPUs while the load went on; program is its process, in which other things may go on
// too. Nil where no load began and ended.
func (c *Coordinator) Cost(program string) *run.Coordinator {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cost.lasted == 0 {
		return nil
	}
	return &run.Coordinator{Program: program, CPUS: c.cost.used, LoadS: c.cost.lasted.Seconds()}
}
