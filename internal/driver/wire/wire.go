// Package wire connects callers and CSI drivers. The drivers under test are real: programs that
// serve CSI on a socket, or Go servers in this process. Every call to a driver passes through one
// wire, which records it, injects faults and checks the answer against the CSI spec.
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
	// Crasher kills the victims of faults; other faults do not need it.
	Crasher Crasher
	// Act executes the actions of a user, an administrator or the node, for faults with an action.
	Act func(fault.Action, fault.Site)
	// Chance decides whether further faults apply to calls, in addition to the injected ones.
	// Default: none does.
	Chance Chance
	// Observer is called for every call. Default: none.
	Observer Observer
	// RealClock means that drivers and their callers use the real clock. Times in answers then stay
	// unchanged.
	RealClock bool
	// Latencies are times that are added to calls in virtual time, if the kernel measures calls.
	// Their keys are names of calls, such as "CreateVolume". Default: none.
	Latencies map[string]Latency
	// ProgramAt returns the program that serves a socket; nil for a socket of another program.
	// Default: always nil.
	ProgramAt func(Site) *machine.Process
	// ServiceAt returns the access of the program that serves a socket to a stand-in that reports
	// its HTTP requests; nil if there is none. Default: always nil.
	ServiceAt func(Site) *standin.Access
	// ShowSystemCalls records the system calls by which programs change files, of all calls that
	// have an effect.
	ShowSystemCalls bool
	// OnFailed is called with a failed call and the system calls observed during it. Default:
	// nothing.
	OnFailed func(machine.Machine, *trace.Event, []machine.SystemCall)
	// Work is the work of drivers outside the calls, for which virtual time waits. Default: it does
	// not wait.
	Work *unfinished.Work
	// RunDir is the directory of the run on the host. Answers contain it, but records do not: see
	// the constant. Default: none.
	RunDir string

	// ReleaseAt returns the release of the driver that serves at a site; empty if the driver has
	// only one release. Default: none is recorded.
	ReleaseAt func(Site) string

	connections map[address]connection
	answers     map[question]proto.Message
	windingUp   windUps
	stamps      map[string]stamp      // by driver and created object
	published   map[string]*published // by driver
	stalled     map[string]int        // calls in which a fault stalls a driver, by driver
}

// Observer is called when a call is sent and when its caller has the outcome. It must not yield.
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
	Caller   string // the caller's name in traces: "kubelet", "csi-attacher"
	Driver   string
	Node     string // empty for the controller plugin
	Machine  machine.Machine
	Socket   string        // as the machine sees it
	Deadline time.Duration // virtual time, since the start of the run, at which the caller gives up
}

// Conn returns a client connection for one process. Its calls yield. Their deadline is the site's
// deadline in virtual time, not the deadline of the context.
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

// Invoke makes one call with its fault, checks the answer, and records both.
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

// shortMethod turns "/csi.v1.Node/NodeStageVolume" into "Node/NodeStageVolume". A method outside
// CSI, such as "/fence.FenceController/GetFenceClients", only loses its leading slash.
func shortMethod(full string) string {
	if !strings.HasPrefix(full, "/csi.") {
		return full[1:]
	}
	service := full[strings.LastIndexByte(full[:strings.LastIndexByte(full, '/')], '.')+1:]
	return service
}
