package sim

import (
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/sim/expect"
)

// startChecks lets the checks of the run follow the cluster.
func (c *Simulation) startChecks() {
	c.checks = cluster.NewChecks(cluster.Checked{Drivers: c.drivers, Name: c.cluster, NoData: c.options.NoDataCheck, Peer: func() *cluster.Checks {
		if other := c.peer(); other != nil {
			return other.checks
		}
		return nil
	}})
}

// peer returns the other cluster of the run; nil without one.
func (c *Simulation) peer() *Simulation {
	for _, other := range c.run.clusters {
		if other != c {
			return other
		}
	}
	return nil
}

// Evidence returns the evidence for checking expectations.
func (c *Simulation) Evidence() *expect.Evidence {
	return &expect.Evidence{
		Journal: expect.NewJournal(c.World.Trace), Store: c.World.Store, Faults: &c.Wire.Faults,
		Leftovers: c.Leftovers, Violations: c.drivers.Violations, LostData: func() []verdict.Verdict { return c.checks.Lost }, Unmounted: c.checks.Watch.Unmounted,
		Died: c.Died,
	}
}
