package sim

import (
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Ledger lists mounts, files, processes and objects that exist without a pod, claim, volume or
// attachment that needs them.
type Ledger = ledger.Ledger

// Ledger checks, at this point, for leftovers: mounts and directories and processes on nodes, loop
// devices, VolumeAttachments, and contents of drivers' backends. It takes no virtual time and
// leaves no trace.
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

// mayStillGo reports whether a job of the driver may still remove a leak in its backend: the call
// that should have removed it was answered OK.
func mayStillGo(e ledger.Entry) bool {
	switch e.Kind {
	case ledger.Attachment, ledger.Volume, ledger.Snapshot, ledger.GroupSnapshot:
		return e.Undone != nil && e.Undone.Event.Code == ""
	}
	return false
}

func (c *Simulation) look() Ledger {
	seen := ledger.Cluster{
		Store: c.World.Store, Trace: c.World.Trace, Watch: c.watch, ControlPlanes: c.controlPlanes,
		Loops: c.run.loops, Renamed: c.Wire.Renamed, StagesNot: c.Wire.StagesNot,
	}
	for _, n := range c.nodes {
		seen.Nodes = append(seen.Nodes, &ledger.Node{Name: n.Name, Machine: n.machine, Kubelet: n.kubelet != nil})
	}
	if other := c.peer(); other != nil {
		seen.Elsewhere = other.World.Store
	}
	for _, d := range c.drivers {
		seen.Backends = append(seen.Backends, &ledger.Backend{Driver: d.Name, Before: d.before, Holds: d.holds, Fences: d.fences(), NodeID: d.nodeID, IDs: d.idsOf})
	}
	return ledger.Look(seen)
}

// Leftovers are the leaks of the ledger.
func (c *Simulation) Leftovers() []ledger.Entry { return c.Ledger().Leaks }

// Unmounted returns the mounts that drivers unmounted although they belong to others, one a line.
func (c *Simulation) Unmounted() []string { return texts(c.watch.Unmounted()) }

// lookout follows the calls to drivers.
type lookout struct{ *Simulation }

func (l lookout) Began(at wire.Site, call *trace.Event) {
	l.watch.Began(at.Machine, call, at.Deadline)
	l.remains.Began(call)
	if l.data != nil {
		l.data.Began(call)
	}
	l.promises.Began(call)
	l.invariants.Began(call)
}

func (l lookout) Ended(at wire.Site, call *trace.Event) {
	l.watch.Ended(at.Machine, call)
	l.checkDetached(call)
	l.promises.Ended(call)
	l.invariants.Ended(call)
	l.followReplication(call)
	if l.data != nil && ledger.Changes(call) {
		l.data.Ended(call)
	}
}

// driverOf returns the driver that a process of a machine belongs to, empty if there is none.
func (c *Simulation) driverOf(m machine.Machine, pid int) string {
	for _, d := range c.drivers {
		for _, p := range c.plugins(d) {
			if b, ok := p.backend.(*programBackend); ok && p.running && p.machine == m && b.program.PID() == pid {
				return d.Name
			}
		}
	}
	return ""
}

// programsOf are the programs of a driver that run.
func (c *Simulation) programsOf(driver string) (all []ledger.Program) {
	for _, d := range c.drivers {
		if d.Name != driver {
			continue
		}
		for _, p := range c.plugins(d) {
			if b, ok := p.backend.(*programBackend); ok && p.running {
				all = append(all, ledger.Program{Plugin: p.String(), Node: p.node, Process: b.program.Process()})
			}
		}
	}
	return all
}

// checkDetached looks for mounts of a volume that has been detached from a node.
func (c *Simulation) checkDetached(call *trace.Event) {
	request, ok := call.Request.(*csi.ControllerUnpublishVolumeRequest)
	if !ok || call.Code != "" {
		return
	}
	for _, d := range c.drivers {
		for _, n := range c.nodes {
			if d.Name == call.Driver && c.nodeID(d, n.Name) == request.GetNodeId() {
				for _, left := range c.watch.MountedStill(n.machine, call) {
					c.Wire.Report(left.Undone, left.Verdict)
				}
			}
		}
	}
}
