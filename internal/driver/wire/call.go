package wire

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/effect"
	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/outcome"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// call is a call in progress.
type call struct {
	*conn
	fullMethod, method string
	request, answer    proto.Message
	event              *trace.Event
	ended              bool
	heard              proto.Message // the driver's answer, which its caller may never receive
	onItsWay           bool          // the call continues even if its caller is killed
	fault              *fault.Fault  // nil for a call without a fault
	aside              bool          // csisim makes it in addition to the caller's call
	// around wraps the client that reaches the driver, the innermost first.
	around []wrapper
	// ownAnswer: the fault disturbed the driver, but the answer is the driver's own.
	ownAnswer bool
	// watch observes the program's system calls; nil if they are not observed.
	watch *machine.CallWatch
	// requests observes the program's HTTP requests; nil if they are not observed.
	requests         *standin.Watch
	stalls           bool // the driver is stopped in it
	requestsHidden   bool // no request is watched
	requestsRecorded int  // number of requests in the trace
	before           outcome.Before
	err              error // of the finished call
}

// wrapper returns a client around another one.
type wrapper = func(grpc.ClientConnInterface) grpc.ClientConnInterface

// make makes the call, with the fault that applies to it.
func (c *call) make() error {
	defer c.wire.Count(c)()
	err := c.WhileCallerLives(c.send)
	if err != nil && c.watch != nil && c.wire.OnFailed != nil {
		c.wire.OnFailed(c.site.Machine, c.event, c.watch.Seen())
	}
	return err
}

// WhileCallerLives makes the call, and ends it if its caller is killed meanwhile. A call that has
// been sent and does not need its caller continues.
func (c *call) WhileCallerLives(make func() error) error {
	returned := false
	defer func() {
		if !returned && !c.onItsWay && !c.process.Kernel().Closing() {
			c.end(effect.ErrCallerExited)
		}
	}()
	err := make()
	returned = true
	return err
}

// faultSite describes the call for the selection of faults.
func (c *call) faultSite() fault.Site {
	return fault.Site{
		Method: c.method, Driver: c.site.Driver, Node: c.site.Node, From: c.site.Caller, Volume: contract.VolumeOf(c.request),
		Bytes: contract.RequiredBytes(c.request),
	}
}

// send sends the call, with the fault that applies to it.
func (c *call) send() error {
	f := c.wire.Faults.Hit(c.faultSite(), effect.CanAffect)
	if f == nil {
		f = c.drawn()
	}
	if f == nil {
		return c.PassShown()
	}
	c.fault = f
	return effect.Of(f.Effect).Do(c, f)
}

// TakeTime lets a call take virtual time, if necessary beyond its caller's deadline. The driver
// continues although its caller has given up.
func (c *call) TakeTime(send func(*kernel.Process, proto.Message) error) error {
	answer := effect.Blank(c.answer)
	var err error
	done := false
	c.onItsWay = true
	c.wire.World.Kernel.Spawn(nil, "call of "+c.method, func(p *kernel.Process) {
		err = send(p, answer)
		done, c.onItsWay = true, false // a caller that is killed before the answer ends the call
		if c.process.Ended() {
			c.end(effect.ErrCallerExited)
		}
		if c.ended { // the caller no longer waits
			c.recordLost()
		}
		c.process.Wake()
	})
	if !c.process.WaitUntil("answer to "+c.method, c.site.Deadline, func() bool { return done }) {
		return effect.ErrDeadline
	}
	proto.Merge(c.answer, answer)
	return err
}

// end records the outcome that the caller received, only once.
func (c *call) end(err error) {
	if c.ended {
		return
	}
	c.ended = true
	if err != nil {
		c.event.Code, c.event.Message = InWords(err, c.request)
	} else {
		c.event.Response = c.wire.kept(c)
	}
	c.wire.World.Trace.End(c.event)
}

// InWords returns the code and the message of a failure for the trace.
func InWords(err error, request proto.Message) (code, message string) {
	return status.Code(err).String(), trace.Shortened(trace.RedactText(status.Convert(err).Message(), request))
}

// Pass passes the call to the driver unless its caller has already given up.
func (c *call) Pass(into proto.Message) error {
	if c.process.Elapsed() >= c.site.Deadline {
		return effect.ErrDeadline
	}
	return c.forward(c.process, into, c.site.Deadline)
}

// Deliver passes a held call to the driver, whatever its caller did meanwhile.
func (c *call) Deliver(p *kernel.Process, into proto.Message) error {
	return c.forward(p, into, p.Elapsed()+lateCall)
}

// lateCall bounds how long a driver may work on a call without a caller.
const lateCall = 10 * time.Minute

func (c *call) forward(p *kernel.Process, into proto.Message, deadline time.Duration) error {
	client, err := c.wire.dial(c.site)
	if err != nil {
		return status.Errorf(codes.Unavailable, "connection error: desc = %q", err.Error())
	}
	if !InProcess(c.site.Machine) {
		client = redialled{client, c.site}
	}
	if program := c.Program(); program != nil {
		client = exitingProgram{client, program.Done()}
	}
	if until, busy := c.wire.windingUp.of(c); busy {
		client = retryingAborted{client, until}
	}
	if c.watch != nil {
		client = watched{client, c.watch}
	}
	if access := c.watchRequests(); access != nil {
		client = served{client, access, c.requests}
		defer c.recordRequests()
	}
	for _, around := range c.around {
		client = around(client)
	}
	var matter kernel.Matter
	if !InProcess(c.site.Machine) {
		matter = c.matter()
		matter.Spent = c.spent()
		matter.Held = c.waitsForStalled
	}
	matter.Latency = c.latency()
	began := time.Now()
	err = Exchange(p, c.site.Machine, client, matter, c.fullMethod, c.wire.sent(c.onMachine(c.request)), into, deadline)
	return c.receive(into, err, began)
}

// spent returns the function that measures the patience spent by the call; nil if its program is
// not known.
func (c *call) spent() func(time.Duration) time.Duration {
	program := c.Program()
	if program == nil || c.wire.Work == nil {
		return nil
	}
	return machine.NewMeter(program, c.wire.World.Kernel.Patience(), c.wire.Work.Limit()).Spent
}

// receive records an answer to a call that was made at a time of the real clock.
func (c *call) receive(into proto.Message, err error, began time.Time) error {
	err = c.withoutPorts(c.wire.received(into, err))
	if err == nil {
		c.setClock(into, began)
	}
	c.recordAnswer(into, err)
	c.noteWork(into, err)
	if err != nil {
		c.wire.forget(c.site, err)
		return err
	}
	c.heard = into
	c.wire.NoteNamed(c, into)
	c.wire.NoteGranted(c, into)
	return nil
}
