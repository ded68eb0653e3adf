package effect

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

// timeOutFields are the fields of faults that make deadlines expire in the driver.
type timeOutFields struct {
	TimeOut bool `json:"timeOut,omitempty" doc:"The deadline of the call expires while the driver works on it, and the context of the call ends in the driver, as when a mount hangs for two minutes. In a driver program it ends before the second change of files; if the program makes fewer changes, its answer is late. In a driver in Go code it ends at the start. The caller gets DeadlineExceeded."`
}

// timeOut: the call's context ends while the driver works on it. In a program it ends between two
// changes to files, and in Go code at the start of the call. It does not end if csisim cannot
// observe changes.
var timeOut = &Effect{
	Name:  fault.TimeOut,
	Field: "timeOut",
	Given: func(f *Fields) bool { return f.TimeOut },
	InSearches: func(kind fault.Kind, _ Called) []fault.Fault {
		if kind != fault.Late {
			return nil
		}
		return []fault.Fault{{Name: "times out in the driver", Effect: fault.TimeOut}}
	},
	Never:    unseen,
	InWords:  words("deadline passed while the driver worked on it"),
	Disturbs: always,
	Do: func(c Call, f *fault.Fault) error {
		c.Struck(f)
		return c.TakeTime(func(p *kernel.Process, into proto.Message) error { return doTimeOut(c, p, f, into) })
	},
}

const (
	// programPatience is the wall time for which a program may work on a call until its deadline
	// expires there. It is enough to reach the change before which the program is held.
	programPatience = 50 * time.Millisecond
	// quietTime is the wall time for which a program must have been idle.
	quietTime = 5 * time.Millisecond
	// WindingUp is the wall time in which a program may finish its work for a call after the
	// deadline. Its caller retries after half a second at the earliest, which takes no wall time
	// here.
	WindingUp = 2 * time.Second
)

// doTimeOut returns when the caller has given up and the driver has stopped working on the call.
func doTimeOut(c Call, p *kernel.Process, f *fault.Fault, into proto.Message) error {
	var err error
	if c.InProcess() {
		c.Wrap(withDeadline(0))
		err = c.Deliver(p, into)
	} else {
		err = deliverUntilDue(c, p, f, into)
	}
	p.Sleep(c.Deadline() - p.Elapsed() + lateness)
	return err
}

func deliverUntilDue(c Call, p *kernel.Process, f *fault.Fault, into proto.Message) error {
	hold := stop(c, f)
	if hold == nil {
		return c.Deliver(p, into)
	}
	defer hold.Release()
	c.Wrap(withDeadline(programPatience))
	c.Wrap(heldAt(hold.Reached))
	err := c.Deliver(p, into)
	if err == nil {
		return nil
	}
	// On a busy computer the deadline may pass before the first change.
	if !errors.Is(err, ErrHeld) {
		windUp(c, hold)
		return err
	}
	p.Kernel().LetClockDecide(fmt.Sprintf("the deadline of %s passed while the driver worked on it: how it ends that is up to the real clock", c.Method()))
	// A server that does not end the stream at the deadline answers when it continues.
	goesOn := time.AfterFunc(2*programPatience, hold.Release)
	defer goesOn.Stop()
	err = c.Deliver(p, into)
	windUp(c, hold)
	return err
}

// windUp waits while the program finishes its work for a call after the deadline.
func windUp(c Call, hold *machine.Hold) {
	c.WindsUp()
	hold.Release()
	awaitQuiet(c.Program())
}

// awaitQuiet waits, in wall time, until the program and all its children wait for something.
func awaitQuiet(program *machine.Process) {
	for began, quiet := time.Now(), time.Now(); program != nil && time.Since(quiet) < quietTime && time.Since(began) < WindingUp; time.Sleep(quietTime / 5) {
		if !program.Quiet() {
			quiet = time.Now()
		}
	}
}

// withDeadline returns a wrapper: calls of the wrapped client end in the server after some wall
// time.
func withDeadline(patience time.Duration) func(grpc.ClientConnInterface) grpc.ClientConnInterface {
	return func(client grpc.ClientConnInterface) grpc.ClientConnInterface { return shortDeadline{client, patience} }
}

// shortDeadline is a client that sends its calls with a deadline, which ends them in the server but
// not here.
type shortDeadline struct {
	grpc.ClientConnInterface
	patience time.Duration
}

// Prompt reports whether the calls never block.
func (s shortDeadline) Prompt() bool { return IsPrompt(s.ClientConnInterface) }

// Invoke makes a call.
func (s shortDeadline) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	deadline := time.Time{}
	if s.patience > 0 {
		deadline = time.Now().Add(s.patience)
	}
	return s.ClientConnInterface.Invoke(deadlineContext{ctx, deadline}, method, request, answer, opts...)
}

// deadlineContext is a context with a deadline that is sent along with a call. The context itself
// continues after the deadline.
type deadlineContext struct {
	context.Context
	deadline time.Time
}

// Deadline returns the time at which the context ends in the called server.
func (d deadlineContext) Deadline() (time.Time, bool) { return d.deadline, true }
