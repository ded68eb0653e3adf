package sim

import (
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/sim/expect"
)

// Evidence returns the evidence for checking expectations.
func (c *Simulation) Evidence() *expect.Evidence {
	return &expect.Evidence{
		Journal: expect.NewJournal(c.World.Trace), Store: c.World.Store, Faults: &c.Wire.Faults,
		Leftovers: c.Leftovers, Violations: c.violations, LostData: func() []verdict.Verdict { return c.checks.Lost }, Unmounted: c.checks.Watch.Unmounted,
		Died: c.Died,
	}
}
