// Package wire is between callers and CSI drivers. The drivers under test are real: programs that
// serve CSI on a socket, or Go servers in this process. Every call to any of them passes one wire,
// which records it, injects faults and checks the answer against the CSI spec.
package wire

import (
	"context"
	"io"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/driver/unfinished"
	"github.com/csisim/csisim/internal/judge/outcome"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Wire carries every call between the control plane and the drivers.
type Wire struct {
	// Judge judges all calls.
	outcome.Judge
	World  *component.World
	Faults fault.Set
	// Crasher is needed by faults that kill.
	Crasher Crasher
	// Act is needed by faults with an action: it lets a user, an administrator or the node act.
	Act func(fault.Action, fault.Site)
	// Chance decides whether further faults befall calls, beside the injected ones. Default: none
	// does.
	Chance Chance
	// Observer is called for every call. Default: none.
	Observer Observer
	// RealClock says that drivers and their callers follow the real clock: times in answers
	// stay as drivers say them.
	RealClock bool
	// Latencies are times that are added to calls in virtual time, by the name of the call such as
	// "CreateVolume", if the kernel measures calls. Default: none.
	Latencies map[string]Latency
	// ProgramAt returns the program that serves a socket; nil for a socket of another program.
	// Default: always nil.
	ProgramAt func(Site) *machine.Process
	// ServiceAt returns the access of the program that serves a socket to a stand-in that shows its
	// HTTP requests; nil without a stand-in. Default: always nil.
	ServiceAt func(Site) *standin.Access
	// ShowSystemCalls records the system calls by which programs change files, of all calls that
	// have an effect.
	ShowSystemCalls bool
	// OnFailed is called with a call that failed and the system calls that were seen in it.
	// Default: nothing.
	OnFailed func(machine.Machine, *trace.Event, []machine.SystemCall)
	// Work is the work of drivers that goes on outside the calls, for which virtual time waits.
	// Default: it does not wait.
	Work *unfinished.Work
	// RunDir is the directory of the run on the host, which answers have and records do
	// not: see the constant. Default: none.
	RunDir string

	// ReleaseAt returns the release of the driver that serves at a site; empty for its only
	// release. Default: none is recorded.
	ReleaseAt func(Site) string

	connections map[address]connection
	answers     map[question]proto.Message
	windingUp   windUps
	stamps      map[string]stamp      // by driver and created object
	published   map[string]*published // by driver
	stalled     map[string]int        // calls in which a fault has a driver stand still, by driver
}

// Observer is called when a call is sent and when its caller has the outcome. It must
// not give way.
type Observer interface {
	Began(Site, *trace.Event)
	Ended(Site, *trace.Event)
}

type connection struct {
	client grpc.ClientConnInterface
	closer io.Closer
}

// New returns a wire without faults.
func New(world *component.World) *Wire {
	w := &Wire{
		Judge: outcome.New(world.Trace), World: world, connections: map[address]connection{}, answers: map[question]proto.Message{},
		stamps: map[string]stamp{}, windingUp: windUps{}, published: map[string]*published{}, stalled: map[string]int{},
	}
	w.Rename = w.Renamed
	return w
}

// Site is one end of the wire: a caller and the socket that it calls.
type Site struct {
	Caller   string // as traces name it: "kubelet", "csi-attacher"
	Driver   string
	Node     string // empty for the controller plugin
	Machine  machine.Machine
	Socket   string        // as the machine sees it
	Deadline time.Duration // virtual time, since the run began, at which the caller gives up
}

// Conn is a client connection for one process. Its calls give way; their
// deadline is the site's, in virtual time, not that of the context.
func (w *Wire) Conn(p *kernel.Process, s Site) grpc.ClientConnInterface {
	return &conn{wire: w, process: p, site: s}
}

// Close ends all connections.
func (w *Wire) Close() {
	for _, c := range w.connections {
		c.closer.Close()
	}
	clear(w.connections)
}

type conn struct {
	wire    *Wire
	process *kernel.Process
	site    Site
}

// NewStream is not part of CSI.
func (c *conn) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "CSI has no streaming calls")
}

// Invoke makes one call: fault, driver, check of the answer, record.
func (c *conn) Invoke(_ context.Context, fullMethod string, args, reply any, _ ...grpc.CallOption) error {
	method := shortMethod(fullMethod)
	request, answer := args.(proto.Message), reply.(proto.Message)
	c.process.Yield(method)
	entry := Entry(c.site, fullMethod, request)
	if c.wire.ReleaseAt != nil {
		entry.Release = c.wire.ReleaseAt(c.site)
	}
	event := c.wire.World.Trace.Begin(entry)
	if c.wire.Observer != nil {
		c.wire.Observer.Began(c.site, event)
	}
	call := &call{conn: c, fullMethod: fullMethod, method: method, request: request, answer: answer, event: event}
	call.touch()
	call.before = c.wire.Before(call)
	err := call.make()
	call.end(err)
	if call.heard != nil {
		c.wire.CheckMounted(call, call.before)
	}
	call.recordLost()
	call.err = err
	c.wire.Check(call, call.before, err)
	if c.wire.Observer != nil {
		c.wire.Observer.Ended(c.site, event)
	}
	c.process.Yield("answer to ", method)
	if err == nil {
		return call.turn()
	}
	return err
}

// Entry returns the trace entry of a call that begins.
func Entry(site Site, fullMethod string, request proto.Message) trace.Entry {
	return trace.Entry{Kind: trace.Call, Actor: site.Caller, Node: site.Node, Driver: site.Driver, Method: shortMethod(fullMethod), Request: request}
}

// shortMethod turns "/csi.v1.Node/NodeStageVolume" into "Node/NodeStageVolume", and
// "/fence.FenceController/GetFenceClients", which is not of CSI, into its name without the
// first stroke.
func shortMethod(full string) string {
	if !strings.HasPrefix(full, "/csi.") {
		return full[1:]
	}
	service := full[strings.LastIndexByte(full[:strings.LastIndexByte(full, '/')], '.')+1:]
	return service
}
