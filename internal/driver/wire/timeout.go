package wire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

const (
	// programPatience is the wall time that a program may work on a call until its deadline passes
	// there: enough to reach the change before which it is held.
	programPatience = 50 * time.Millisecond
	// quietTime is the wall time for which a program must have been seen to do nothing.
	quietTime = 5 * time.Millisecond
)

// hurried is a client with calls that end in the server at a deadline that does not end them here.
type hurried struct {
	grpc.ClientConnInterface
	patience time.Duration
}

// Prompt reports whether the calls never block.
func (h hurried) Prompt() bool { return isPrompt(h.ClientConnInterface) }

// Invoke makes a call.
func (h hurried) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	deadline := time.Time{}
	if h.patience > 0 {
		deadline = time.Now().Add(h.patience)
	}
	return h.ClientConnInterface.Invoke(due{ctx, deadline}, method, request, answer, opts...)
}

// due is a context that has a deadline, which is sent along with a call, and goes on after it.
type due struct {
	context.Context
	deadline time.Time
}

// Deadline returns the time at which the context ends for the called server.
func (d due) Deadline() (time.Time, bool) { return d.deadline, true }

// timeOut gives the call to the driver and ends the call's context there: for a program between two
// of its changes to files, for Go code when it begins, and not at all where no changes are seen. It
// returns when the caller has given up and the driver does nothing any more.
func (c *call) timeOut(p *kernel.Process, f *fault.Fault, answer proto.Message) error {
	var err error
	if InProcess(c.site.Machine) {
		c.patience = new(time.Duration)
		err = c.deliver(p, answer)
	} else {
		err = c.deliverUntilDue(p, f, answer)
	}
	p.Sleep(c.site.Deadline - p.Elapsed() + lateness)
	return err
}

func (c *call) deliverUntilDue(p *kernel.Process, f *fault.Fault, answer proto.Message) error {
	hold := c.hold(f)
	if hold == nil {
		return c.deliver(p, answer)
	}
	defer hold.Release()
	c.patience = new(programPatience)
	err := c.deliver(p, answer)
	if err == nil {
		return nil
	}
	if !errors.Is(err, errHeld) { // on a busy computer the deadline may pass before the first change
		c.windUp(hold)
		return err
	}
	c.wire.World.Kernel.LetClockDecide(fmt.Sprintf("the deadline of %s passed while the driver worked on it: how it ends that is up to the real clock", c.method))
	// A server that does not end the stream at the deadline answers when it goes on.
	goesOn := time.AfterFunc(2*programPatience, hold.Release)
	defer goesOn.Stop()
	err = c.deliver(p, answer)
	c.windUp(hold)
	return err
}

// windUp lets the program finish its work for a call after the deadline has passed.
func (c *call) windUp(hold *machine.Hold) {
	c.wire.windingUp.begin(c)
	hold.Release()
	c.awaitQuiet()
}

// awaitQuiet waits, in wall time, until the called program and all its children wait for something.
func (c *call) awaitQuiet() {
	program := c.program()
	for began, quiet := time.Now(), time.Now(); program != nil && time.Since(quiet) < quietTime && time.Since(began) < windingUp; time.Sleep(quietTime / 5) {
		if !program.Quiet() {
			quiet = time.Now()
		}
	}
}
