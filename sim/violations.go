package sim

import (
	"slices"

	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/judge/ledger"
	judged "github.com/csisim/csisim/internal/judge/program"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/sim/expect"
)

// startChecks lets the checks of the run follow the cluster.
func (c *Simulation) startChecks() {
	c.checks = cluster.NewChecks(cluster.Checked{
		World: c.World, Wire: c.Wire, Name: c.cluster, NoData: c.options.NoDataCheck, Machines: c.machinesOf,
		Peer: func() *cluster.Checks {
			if other := c.peer(); other != nil {
				return other.checks
			}
			return nil
		},
		Dir: func() string { return c.run.work.Path() },
		Serves: func(driver, node string) bool {
			p, err := c.plugin(driver, node)
			return err == nil && p.running
		},
		HasProgram: func(name string) bool {
			d := c.driver(name)
			return d != nil && d.Program != nil
		},
	})
	c.checks.Watch.DriverOf, c.checks.Watch.Programs = c.driverOf, c.programsOf
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

// machinesOf returns those of the nodes that a driver knows by an id.
func (c *Simulation) machinesOf(driver, id string) (all []machine.Machine) {
	d := c.driver(driver)
	for _, n := range c.nodes.All {
		if d != nil && c.nodeID(d, n.Name) == id {
			all = append(all, n.Machine)
		}
	}
	return all
}

// driverOf returns the driver that a process of a machine belongs to, empty if there is none.
func (c *Simulation) driverOf(m machine.Machine, pid int) string {
	for _, b := range c.programs() {
		if b.running && b.machine == m && b.program.PID() == pid {
			return b.driver.Name
		}
	}
	return ""
}

// programsOf are the programs of a driver that run.
func (c *Simulation) programsOf(driver string) (all []ledger.Program) {
	for _, b := range c.programs() {
		if b.driver.Name == driver && b.running {
			all = append(all, ledger.Program{Plugin: b.String(), Node: b.node, Process: b.program.Process()})
		}
	}
	return all
}

// violations returns the drivers' breaches of the CSI spec: those in calls, those in the logs of
// their programs, remains of deleted volumes, and orphans of failed calls.
func (c *Simulation) violations() []verdict.Verdict {
	c.checks.Remains.Look()
	c.checks.Orphans.Look()
	c.readLogs()
	return c.Wire.Violations()
}

// readLogs looks for secrets and data races in the logs of driver programs.
func (c *Simulation) readLogs() {
	var all []judged.Program
	ran := map[*driver][]judged.Program{}
	for _, b := range c.programs() {
		p := judged.Program{Plugin: b.String(), Driver: b.driver.Name, Node: b.node, Ran: b.ran}
		all, ran[b.driver] = append(all, p), append(ran[b.driver], p)
	}
	for _, d := range c.drivers {
		if d.Program != nil {
			c.checks.Logs.Secrets(d.Name, append(slices.Clone(d.Program.Command), d.Program.ControllerCommand...), ran[d])
		}
	}
	for _, p := range all {
		c.checks.Logs.Races(p)
	}
}

// Evidence returns the evidence for checking expectations.
func (c *Simulation) Evidence() *expect.Evidence {
	return &expect.Evidence{
		Journal: expect.NewJournal(c.World.Trace), Store: c.World.Store, Faults: &c.Wire.Faults,
		Leftovers: c.Leftovers, Violations: c.violations, LostData: func() []verdict.Verdict { return c.checks.Lost }, Unmounted: c.checks.Watch.Unmounted,
		Died: c.Died,
	}
}
