package wire

import (
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/driver/effect"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/outcome"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// A call is judged by its outcome.
var _ outcome.Call = &call{}

// Caller returns the name of the component that calls.
func (c *call) Caller() string { return c.site.Caller }

// Driver returns the name of the called driver.
func (c *call) Driver() string { return c.site.Driver }

// Node returns the node of the called plugin; empty for controller plugins.
func (c *call) Node() string { return c.site.Node }

// FullMethod returns the name in gRPC.
func (c *call) FullMethod() string { return c.fullMethod }

// Event returns the record of the call.
func (c *call) Event() *trace.Event { return c.event }

// Method returns a name such as "Node/NodeStageVolume".
func (c *call) Method() string { return c.method }

// Request returns the message of the caller.
func (c *call) Request() proto.Message { return c.request }

// Answer returns the message for the caller.
func (c *call) Answer() proto.Message { return c.answer }

// Process returns the caller.
func (c *call) Process() *kernel.Process { return c.process }

// Deadline returns the virtual time at which the caller gives up.
func (c *call) Deadline() time.Duration { return c.site.Deadline }

// Machine returns the machine of the called socket.
func (c *call) Machine() machine.Machine { return c.site.Machine }

// InProcess reports whether the driver is Go code of this process.
func (c *call) InProcess() bool { return InProcess(c.site.Machine) }

// MadeByFault reports whether a fault made the answer.
func (c *call) MadeByFault() bool { return c.event.Injected != "" && !c.ownAnswer }

// GivenUp reports whether the caller no longer waits.
func (c *call) GivenUp() bool { return c.err == effect.ErrDeadline || c.err == effect.ErrCallerExited }

// Client returns a client for requests of csisim itself.
func (c *call) Client() csi.ControllerClient {
	site := c.site
	site.Caller = outcome.Itself
	return csi.NewControllerClient(c.wire.Conn(c.process, site))
}

// Outcome returns the visible outcome of the call so far.
func (c *call) Outcome(err error) contract.Outcome { return c.wire.Judge.Outcome(c, err) }

// Creations counts the CreateVolume calls of the driver.
func (c *call) Creations() outcome.Creations { return c.wire.Judge.Creations(c.site.Driver) }

// OtherNode returns the id of another node of the driver; empty if there is none.
func (c *call) OtherNode(id string) string { return c.wire.Judge.OtherNode(c.site.Driver, id) }

// Attaches reports whether the driver's controller plugin declares that it attaches volumes.
func (c *call) Attaches() bool { return c.wire.Judge.Attaches(c.site.Driver) }

// AttachesReadOnly reports whether the driver declares that it also attaches volumes read-only.
func (c *call) AttachesReadOnly() bool { return c.wire.Judge.AttachesReadOnly(c.site.Driver) }

// OtherVolume returns the id of another volume of the driver; empty if there is none.
func (c *call) OtherVolume(id string) string { return c.wire.Judge.OtherVolume(c.site.Driver, id) }

// Mounts lists the mounts at, and below, the paths of the request.
func (c *call) Mounts() []string { return outcome.Mounts(c) }

// CheckLists compares the driver's lists with each other.
func (c *call) CheckLists() []verdict.Verdict { return c.wire.Judge.CheckLists(c) }

// Note records breaches of the CSI spec.
func (c *call) Note(breaches []verdict.Verdict) { c.wire.Judge.Note(c, breaches) }

// Seen returns the breaches. If there are none, it records that a rule was kept.
func (c *call) Seen(breaches []verdict.Verdict, rule string) []verdict.Verdict {
	return c.wire.Judge.Seen(c, breaches, rule)
}

// turn lets the caller of an endless list request pages until its deadline.
func (c *call) turn() error {
	if !c.wire.NeverEnds(c) {
		return nil
	}
	if c.site.Caller != outcome.Itself {
		c.process.WaitUntil("the last page of "+c.method, c.site.Deadline, func() bool { return false })
	}
	return effect.ErrDeadline
}
