package sim

import (
	"slices"

	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/sim/expect"
)

// Ledger lists mounts, files, processes and objects that no pod, claim, volume or attachment needs.
type Ledger = ledger.Ledger

// Ledger checks for leftovers at this point: mounts, directories and processes on nodes, loop
// devices, VolumeAttachments, and contents of drivers' backends. It takes no virtual time and does
// not appear in the trace.
func (c *Simulation) Ledger() Ledger {
	seen := c.look()
	if c.options.outside() && slices.ContainsFunc(seen.Leaks, mayStillGo) {
		c.run.unfinished.Await(c.options.Context, "lists of drivers that still show something deleted or detached", func() bool {
			seen = c.look()
			return !slices.ContainsFunc(seen.Leaks, mayStillGo)
		})
	}
	return seen
}

// mayStillGo reports whether a job of the driver may still remove a leak in its backend, because
// the driver answered OK to the call that should have removed it.
func mayStillGo(e ledger.Entry) bool {
	switch e.Kind {
	case ledger.Attachment, ledger.Volume, ledger.Snapshot, ledger.GroupSnapshot:
		return e.Undone != nil && e.Undone.Event.Code == ""
	}
	return false
}

func (c *Simulation) look() Ledger {
	seen := ledger.Cluster{
		Store: c.World.Store, Trace: c.World.Trace, Watch: c.checks.Watch, ControlPlanes: c.drivers.ControlPlanes,
		Loops: c.run.loops, Renamed: c.Wire.Renamed, StagesNot: c.Wire.StagesNot,
	}
	for _, n := range c.nodes.All {
		seen.Nodes = append(seen.Nodes, &ledger.Node{Name: n.Name, Machine: n.Machine, Kubelet: n.Kubelet != nil})
	}
	if other := c.peer(); other != nil {
		seen.Elsewhere = other.World.Store
	}
	seen.Backends = c.drivers.Backends()
	return ledger.Look(seen)
}

// Leftovers returns the leaks of the ledger.
func (c *Simulation) Leftovers() []ledger.Entry { return c.Ledger().Leaks }

// Unmounted returns the foreign mounts that drivers unmounted, one per line.
func (c *Simulation) Unmounted() []string { return texts(c.checks.Watch.Unmounted()) }

// Listed returns the sorted ids of all volumes and snapshots that drivers have listed at the
// beginning of the run and at its end, including those that the run did not create.
func (c *Simulation) Listed() []string { return c.drivers.Listed() }

// Died returns the programs of drivers that ended by themselves.
func (c *Simulation) Died() []expect.Death { return c.drivers.Died }

// ReadData lets all running pods read the content of their volumes once more.
func (c *Simulation) ReadData() {
	for _, n := range c.nodes.All {
		if c.options.Context.Err() != nil {
			return
		}
		if n.Kubelet != nil && c.checks.Data != nil {
			n.Kubelet.ReadData()
		}
	}
}

// LostData returns the pods with a volume that lacks the content written to it, each in one line.
func (c *Simulation) LostData() []string { return texts(c.checks.Lost) }

// texts returns verdicts without their titles, each in one line.
func texts(judged []verdict.Verdict) (all []string) {
	for _, v := range judged {
		all = append(all, v.Found[0])
	}
	return all
}
