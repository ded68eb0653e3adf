package wire

import (
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// call is one call on its way.
type call struct {
	*conn
	fullMethod, method string
	request, answer    proto.Message
	event              *trace.Event
	ended              bool
	heard              proto.Message      // the driver's answer, which its caller may never get
	onItsWay           bool               // it takes its course, whether its caller lives or not
	overlap            *overlap           // it is made twice at once; nil if not
	atWork             func()             // runs while the driver works on it; nil for nothing
	struck             *fault.Fault       // nil if none befalls it
	aside              bool               // csisim makes it beside that of the caller
	held               *held              // the driver stops in it; nil if not
	ownAnswer          bool               // the fault disturbed the driver; the answer is the driver's own all the same
	watch              *machine.CallWatch // of the system calls that its program makes; nil for none
	requests           *standin.Watch     // of the HTTP requests that its program makes; nil for none
	requestsRecorded   int                // how many of them are in the trace
	around             string             // a directory of the kubelet that exists before the call; empty for none
	mountsBefore       int                // at its path, before the driver received it
	patience           *time.Duration     // wall time until its context ends in the driver; nil for none
}

// lateness is how long after its caller's deadline a late answer arrives.
const lateness = time.Second

// errDeadline is the error that a caller receives after it gave up.
var errDeadline = status.Error(codes.DeadlineExceeded, "context deadline exceeded")

// make makes the call, with the fault that befalls it.
func (c *call) make() error {
	defer c.wire.countMaking(c)()
	err := c.whileCallerLives(c.send)
	if err != nil && c.watch != nil && c.wire.OnFailed != nil {
		c.wire.OnFailed(c.site.Machine, c.event, c.watch.Seen())
	}
	return err
}

// whileCallerLives makes the call, and ends it if its caller is killed meanwhile, unless
// it takes its course then.
func (c *call) whileCallerLives(make func() error) error {
	returned := false
	defer func() {
		if !returned && !c.onItsWay && !c.process.Kernel().Closing() {
			c.end(ErrCallerExited)
		}
	}()
	err := make()
	returned = true
	return err
}

// faultSite is the call as faults look at it.
func (c *call) faultSite() fault.Site {
	return fault.Site{
		Method: c.method, Driver: c.site.Driver, Node: c.site.Node, From: c.site.Caller, Volume: volumeOf(c.request),
		Bytes: requiredBytes(c.request),
	}
}

// send sends the call, with the fault that befalls it.
func (c *call) send() error {
	f := c.wire.Faults.Hit(c.faultSite())
	if f == nil {
		f = c.drawn()
	}
	if f == nil {
		return c.passShown()
	}
	c.struck = f
	if f.Effect == fault.Repeat {
		return c.sendTwice(f)
	}
	if f.Effect == fault.Overlap {
		return c.sendOverlapping(f)
	}
	if f.Effect == fault.Contradict {
		return c.sendAndContradict(f)
	}
	if f.Effect == fault.InUse {
		return c.sendWhileInUse(f)
	}
	if f.Effect == fault.FailSystemCall {
		return c.sendFailing(f)
	}
	if f.Effect == fault.FailMounted {
		return c.sendWithBrokenMounts(f)
	}
	if f.Effect == fault.FailRequest {
		return c.sendFailingRequest(f)
	}
	// The driver decides whether the crash happens.
	if f.Effect == fault.Kill && f.System.Name != "" {
		return c.takeTime(func(p *kernel.Process, answer proto.Message) error { return c.crashBefore(p, f, answer) })
	}
	c.befell(f)
	switch f.Effect {
	case fault.Instead:
		return status.Convert(protojson.Unmarshal(f.Response, c.answer)).Err()
	case fault.LoseAnswer:
		_ = c.pass(c.process, c.blankAnswer())
		return status.Error(f.Code, f.Message)
	case fault.HoldRequest:
		return c.takeTime(func(p *kernel.Process, answer proto.Message) error {
			hold(p, f)
			return c.deliver(p, answer)
		})
	case fault.HoldAnswer:
		return c.takeTime(func(p *kernel.Process, answer proto.Message) error {
			err := c.deliver(p, answer)
			hold(p, f)
			return err
		})
	case fault.LateAnswer:
		return c.takeTime(func(p *kernel.Process, answer proto.Message) error {
			err := c.deliver(p, answer)
			p.Sleep(c.site.Deadline - p.Elapsed() + lateness)
			return err
		})
	case fault.TimeOut:
		return c.takeTime(func(p *kernel.Process, answer proto.Message) error { return c.timeOut(p, f, answer) })
	case fault.Stall:
		return c.takeTime(func(p *kernel.Process, answer proto.Message) error { return c.stall(p, f, answer) })
	case fault.LateEffect:
		return c.takeTime(func(p *kernel.Process, answer proto.Message) error {
			p.Sleep(c.site.Deadline - p.Elapsed() + lateness)
			return c.deliver(p, answer)
		})
	case fault.Kill:
		return c.takeTime(func(p *kernel.Process, answer proto.Message) error { return c.crash(p, f, answer) })
	case fault.Hang:
		c.process.WaitUntil("answer to "+c.method, c.site.Deadline, func() bool { return false })
		return errDeadline
	default:
		return status.Error(f.Code, f.Message)
	}
}

// hold waits for the delay of a fault, or for its end.
func hold(p *kernel.Process, f *fault.Fault) {
	if f.Delay > 0 {
		p.Sleep(f.Delay)
		return
	}
	f.OnClear(p.Wake)
	p.Wait("the end of fault "+f.Name, f.Cleared)
}

// takeTime lets a call take virtual time, beyond its caller's deadline if need be: the driver works
// on although its caller no longer waits.
func (c *call) takeTime(send func(*kernel.Process, proto.Message) error) error {
	answer := c.blankAnswer()
	var err error
	done := false
	c.onItsWay = true
	c.wire.World.Kernel.Spawn(nil, "call of "+c.method, func(p *kernel.Process) {
		err = send(p, answer)
		done, c.onItsWay = true, false // a caller that dies before it has the answer ends the call
		if c.process.Ended() {
			c.end(ErrCallerExited)
		}
		if c.ended { // the caller no longer waits
			c.recordLost()
		}
		c.process.Wake()
	})
	if !c.process.WaitUntil("answer to "+c.method, c.site.Deadline, func() bool { return done }) {
		return errDeadline
	}
	proto.Merge(c.answer, answer)
	return err
}

// ErrCallerExited is the error of a call after the exit of its caller.
var ErrCallerExited = status.Error(codes.Canceled, "the caller has exited")

// end records the outcome, as its caller saw it, once.
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

// InWords are the code and the message of a failure as they are recorded.
func InWords(err error, request proto.Message) (code, message string) {
	return status.Code(err).String(), trace.Shortened(trace.RedactText(status.Convert(err).Message(), request))
}

func (c *call) blankAnswer() proto.Message { return blank(c.answer) }

// pass gives the call to the driver unless its caller has given up already.
func (c *call) pass(p *kernel.Process, answer proto.Message) error {
	if p.Elapsed() >= c.site.Deadline {
		return errDeadline
	}
	return c.forward(p, answer, c.site.Deadline)
}

// deliver gives a held call to the driver whatever its caller did meanwhile.
func (c *call) deliver(p *kernel.Process, answer proto.Message) error {
	return c.forward(p, answer, p.Elapsed()+lateCall)
}

// lateCall bounds the time in which a driver may work on a call that has lost its caller.
const lateCall = 10 * time.Minute

func (c *call) forward(p *kernel.Process, into proto.Message, deadline time.Duration) error {
	client, err := c.wire.dial(c.site)
	if err != nil {
		return status.Errorf(codes.Unavailable, "connection error: desc = %q", err.Error())
	}
	if !InProcess(c.site.Machine) {
		client = redialled{client, c.site}
	}
	if program := c.program(); program != nil {
		client = mortal{client, program.Done()}
	}
	if until, busy := c.wire.windingUp.of(c); busy {
		client = unhurried{client, until}
	}
	if c.patience != nil {
		client = hurried{client, *c.patience}
	}
	if c.watch != nil {
		client = watched{client, c.watch}
	}
	if door := c.watchRequests(); door != nil {
		client = served{client, door, c.requests}
		defer c.recordRequests()
	}
	if c.held != nil {
		if c.held.ClientConnInterface == nil {
			c.held.ClientConnInterface = client
		}
		client = c.held
	}
	if c.atWork != nil {
		client = disturbed{client, c.wire.World.Kernel, c.atWork}
	}
	if c.overlap != nil {
		c.overlap.ClientConnInterface = client
		client = c.overlap
	}
	var matter kernel.Matter
	if !InProcess(c.site.Machine) {
		matter = c.matter()
		matter.Spent = c.spent()
	}
	began := time.Now()
	err = Exchange(p, c.site.Machine, client, matter, c.fullMethod, c.wire.sent(c.onMachine(c.request)), into, deadline)
	return c.receive(into, err, began)
}

// spent returns the measure of the patience that the call spends; nil if its program is not known.
func (c *call) spent() func(time.Duration) time.Duration {
	program := c.program()
	if program == nil || c.wire.Work == nil {
		return nil
	}
	return machine.NewMeter(program, c.wire.World.Kernel.Patience(), c.wire.Work.Limit()).Spent
}

// receive takes notice of an answer to a call that was made at a time of the real clock.
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
	c.wire.noteNamed(c, into)
	return nil
}

// volumeOf is the volume a request is about: its id, or the name of one to be made.
func volumeOf(m proto.Message) string {
	switch r := m.(type) {
	case interface{ GetVolumeId() string }:
		return r.GetVolumeId()
	case interface{ GetName() string }:
		return r.GetName()
	default:
		return ""
	}
}

// requiredBytes is the size that a request wants at least, 0 if it wants none.
func requiredBytes(m proto.Message) int64 {
	if r, ok := m.(interface{ GetCapacityRange() *csi.CapacityRange }); ok {
		return r.GetCapacityRange().GetRequiredBytes()
	}
	return 0
}
