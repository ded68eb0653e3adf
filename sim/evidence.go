package sim

import "github.com/csisim/csisim/sim/expect"

// Evidence returns the evidence for checking expectations.
func (c *Simulation) Evidence() *expect.Evidence {
	return &expect.Evidence{
		Journal: expect.NewJournal(c.World.Trace), Store: c.World.Store, Faults: &c.Wire.Faults,
		Leftovers: c.Leftovers, Violations: c.violations, LostData: c.lostData, Unmounted: c.watch.Unmounted,
		Died: c.Died,
	}
}
