package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/driver/unfinished"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/volume"
)

// bootLimit is the virtual time in which nodes and drivers must start.
const bootLimit = 5 * time.Minute

// Boot runs until all nodes are Ready, their kubelets know their pods, and all drivers are
// registered on them.
func (c *Simulation) Boot() error {
	err := c.WaitFor("nodes Ready and drivers registered", bootLimit, func() bool { return c.drivers.Missing() == "" })
	if stuck := (*StuckError)(nil); errors.As(err, &stuck) {
		stuck.What, stuck.Refused = c.drivers.Missing(), c.drivers.Refused()
	}
	return err
}

// EachInstant calls look at the end of each instant of virtual time, after the last event of the
// instant. look must not change anything. If there are several functions, the last function is
// called.
func (c *Simulation) EachInstant(look func()) { c.World.Kernel.EachInstant(look) }

// IsInstalled reports whether a node lists a driver, in its CSINode or in the equivalent for an old
// kubelet.
func (c *Simulation) IsInstalled(driver, node string) bool {
	n, err := c.nodes.Named(node)
	return err == nil && volume.IsInstalled(c.World.Store, n.Version, node, driver)
}

// WaitFor runs until cond holds, at most for limit of virtual time. The *StuckError describes the
// condition with the given text.
func (c *Simulation) WaitFor(what string, limit time.Duration, cond func() bool) error {
	return c.pass(what, limit, kernel.Until{Cond: cond, At: c.World.Kernel.Elapsed() + limit}, kernel.Done)
}

// Settle runs until only housekeeping is left, at most for limit of virtual time.
func (c *Simulation) Settle(limit time.Duration) error {
	until := kernel.Until{StopWhenQuiet: true, At: c.World.Kernel.Elapsed() + limit}
	err := c.pass("the cluster to settle", limit, until, kernel.Quiet, kernel.Stuck)
	if waited := (*StuckError)(nil); errors.As(err, &waited) {
		waited.Changing = cluster.Restless(c.World.Trace.Events(), until.At-limit/2, c.World.Kernel.Elapsed())
	}
	return err
}

// Advance advances virtual time by d.
func (c *Simulation) Advance(d time.Duration) error {
	return c.pass(fmt.Sprintf("%v to pass", d), d, kernel.Until{At: c.World.Kernel.Elapsed() + d}, kernel.Deadline)
}

func (c *Simulation) pass(what string, limit time.Duration, until kernel.Until, good ...kernel.Reason) error {
	k := c.World.Kernel
	var reason kernel.Reason
	c.run.gate.While(func() { reason = k.Run(until) })
	switch {
	case reason == kernel.Failed:
		return k.Err()
	case slices.Contains(good, reason):
		return nil
	default:
		return &StuckError{What: what, Reason: reason, After: limit, Waiting: k.Waiting()}
	}
}

// Wait is the wall time for which a run waited for one kind of a driver's work.
type Wait = unfinished.Wait

// Waits returns the waits of the run, of all its clusters.
func (c *Simulation) Waits() []Wait { return c.run.unfinished.Waits() }

// Overdue returns the calls to drivers that exceeded the patience, in the order in which they
// exceeded it. Calls to a driver that a fault had stopped do not count.
func (c *Simulation) Overdue() []string { return c.run.overdue }
