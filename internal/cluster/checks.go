package cluster

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/judge/calls"
	"github.com/csisim/csisim/internal/judge/calls/addons"
	"github.com/csisim/csisim/internal/judge/data"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/judge/program"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// Checks are the checks of a run. They follow the calls to drivers and the data of pods.
type Checks struct {
	Checked
	Watch      *ledger.Watch
	Data       *data.Check // nil for none
	Promises   *addons.Check
	Invariants *calls.Watch
	Remains    program.Remains
	Orphans    program.Orphans
	Archives   program.Archives
	Logs       program.Logs
	Lost       []verdict.Verdict // of the data check
}

// Checked is the cluster that is checked.
type Checked struct {
	*Drivers
	Name string // empty for the only cluster of its run
	// NoData leaves out the data check.
	NoData bool
	// Peer returns the checks of the other cluster of the run; nil without another cluster.
	Peer func() *Checks
}

// NewChecks returns the checks of a cluster in which nothing has started. The checks observe the
// cluster's wire.
func NewChecks(of Checked) *Checks {
	c := &Checks{Checked: of, Watch: ledger.NewWatch(of.World.Trace)}
	c.Watch.Renamed, c.Watch.DriverOf, c.Watch.Programs = of.Wire.Renamed, of.driverOf, of.programsOf
	c.Wire.Observer, c.Wire.OnFailed = c, c.Orphans.Failed
	c.startDataCheck()
	c.startPromises()
	c.startInvariants()
	run := program.Run{Trace: c.World.Trace, Report: c.Wire.Report, Renamed: c.Wire.Renamed, Paired: func() bool { return c.Peer() != nil }}
	files := program.Files{Run: run, Dir: of.Dir, HasProgram: of.hasProgram}
	c.Remains, c.Archives = program.Remains{Files: files}, program.Archives{Files: files}
	c.Orphans, c.Logs = program.Orphans{Run: run}, program.Logs{Run: run}
	return c
}

// Began follows a call to a driver.
func (c *Checks) Began(at wire.Site, call *trace.Event) {
	c.Watch.Began(at.Machine, call, at.Deadline)
	c.Remains.Began(call)
	c.Archives.Began(call)
	if c.Data != nil {
		c.Data.Began(call)
	}
	c.Promises.Began(call)
	c.Invariants.Began(call)
}

// Ended follows the outcome of a call.
func (c *Checks) Ended(at wire.Site, call *trace.Event) {
	c.Watch.Ended(at.Machine, call)
	c.checkDetached(call)
	c.Promises.Ended(call)
	c.Invariants.Ended(call)
	c.followReplication(call)
	if c.Data != nil && ledger.Changes(call) {
		c.Data.Ended(call)
	}
}

// checkDetached finds mounts of a volume that was detached from a node.
func (c *Checks) checkDetached(call *trace.Event) {
	request, ok := call.Request.(*csi.ControllerUnpublishVolumeRequest)
	if !ok || call.Code != "" {
		return
	}
	for _, m := range c.machinesOf(call.Driver, request.GetNodeId()) {
		for _, left := range c.Watch.MountedStill(m, call) {
			c.Wire.Report(left.Undone, left.Verdict)
		}
	}
}
