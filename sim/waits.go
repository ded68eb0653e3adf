package sim

import "github.com/csisim/csisim/internal/driver/unfinished"

// Wait is the wall time that a run waited for work of drivers of one kind.
type Wait = unfinished.Wait

// Waits are those of the run, of all its clusters.
func (c *Simulation) Waits() []Wait { return c.run.unfinished.Waits() }

// Overdue are the calls to drivers for which the patience ran out, in the order in which it did.
// Calls to a driver that a fault had stopped do not count.
func (c *Simulation) Overdue() []string { return c.run.overdue }
