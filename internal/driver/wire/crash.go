package wire

import (
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"

	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// Crasher ends parts of the cluster at calls, and starts them again.
type Crasher interface {
	// Kill ends the victim as SIGKILL, or the loss of power, does.
	Kill(fault.Victim, Site) error
	// Restart starts the victim of a fault again, unless it runs.
	Restart(*fault.Fault, Site) error
}

// errConnectionLost is the error that a caller receives if the driver dies in its call.
var errConnectionLost = status.Error(codes.Unavailable, "error reading from server: EOF")

// workTime is the wall time that a driver works on a call before fault.AtWork kills its victim,
// where the driver's changes are not seen.
const workTime = 2 * time.Millisecond

// disturbed is a client of a driver in another process. It runs a function during each call.
type disturbed struct {
	grpc.ClientConnInterface
	kernel *kernel.Kernel
	what   func()
}

// Invoke makes a call. It returns after the function, even if the answer arrives earlier.
func (d disturbed) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	happened := make(chan struct{})
	moment := time.AfterFunc(workTime, func() {
		d.kernel.Post(func() {
			defer close(happened)
			d.what()
		})
	})
	defer moment.Stop()
	err := d.ClientConnInterface.Invoke(ctx, method, request, answer, opts...)
	select {
	case <-happened:
	case <-ctx.Done():
	}
	return err
}

// crash makes the call and kills the victim of the fault. It runs in a process of its own, since
// the victim may be the caller.
func (c *call) crash(p *kernel.Process, f *fault.Fault, answer proto.Message) error {
	if f.At == fault.OnReceipt {
		c.kill(f)
		if f.KillsDriver() {
			return errConnectionLost
		}
		return c.deliver(p, answer)
	}
	if f.At == fault.AtWork && !InProcess(c.site.Machine) {
		return c.crashAtWork(p, f, answer)
	}
	err := c.deliver(p, answer)
	c.kill(f)
	if f.KillsDriver() {
		return errConnectionLost
	}
	return err
}

// crashAtWork makes the call and kills the victim when the driver's program has made some of its
// changes, or at the end of the call if it makes fewer. Where changes are not seen, it kills the
// victim a moment after the program got the call.
func (c *call) crashAtWork(p *kernel.Process, f *fault.Fault, answer proto.Message) error {
	hold := c.hold(f)
	if hold == nil {
		return c.crashByClock(p, f, answer)
	}
	defer hold.Release()
	err := c.deliver(p, answer)
	c.kill(f)
	if f.KillsDriver() {
		return errConnectionLost
	}
	if errors.Is(err, errHeld) {
		hold.Release()
		err = c.deliver(p, answer)
	}
	return err
}

// program is the one that is called; nil if none of the run's is.
func (c *call) program() *machine.Process {
	if c.wire.ProgramAt == nil {
		return nil
	}
	return c.wire.ProgramAt(c.site)
}

// hold stops the called program after a number of changes that the fault sets. Delivering the call
// then returns errHeld. After the release, delivering it once more returns the answer. It returns
// nil if changes are not seen.
func (c *call) hold(f *fault.Fault) *machine.Hold {
	program := c.program()
	if program == nil {
		return nil
	}
	hold := program.HoldAfter(max(1, f.Changes))
	if hold != nil {
		c.held = &held{reached: hold.Reached}
	}
	return hold
}

func (c *call) crashByClock(p *kernel.Process, f *fault.Fault, answer proto.Message) error {
	killed := false
	c.atWork = func() {
		killed = true
		c.kill(f)
	}
	if f.KillsDriver() {
		c.wire.World.Kernel.LetClockDecide(fmt.Sprintf("a fault killed the %s at work on %s: how far it had come is up to the real clock", f.Victim, c.method))
	}
	err := c.deliver(p, answer)
	if !killed {
		c.kill(f)
	}
	if f.KillsDriver() {
		return errConnectionLost
	}
	return err
}

func (c *call) kill(f *fault.Fault) {
	c.wire.KillAndRestart(f, c.site, c.method)
}

// KillAndRestart kills the victim of a fault at a site, and restarts it as the fault says. The
// description of the occasion is for messages.
func (w *Wire) KillAndRestart(f *fault.Fault, site Site, what string) {
	k := w.World.Kernel
	if err := w.Crasher.Kill(f.Victim, site); err != nil {
		k.Interrupt(fmt.Errorf("kill %s at %s: %w", f.Victim, what, err))
	}
	if f.RestartAfter > 0 {
		k.After(nil, fmt.Sprintf("restart of %s", f.Victim), f.RestartAfter, func(*kernel.Process) {
			if err := w.Crasher.Restart(f, site); err != nil {
				k.Interrupt(&RestartError{f.Victim, what, err})
			}
		})
	}
}

// RestartError says that a component that a fault killed does not start again.
type RestartError struct {
	Victim fault.Victim
	At     string // the call at which it was killed
	Err    error
}

func (e *RestartError) Error() string {
	return fmt.Sprintf("%s, killed at %s, does not start again: %v", e.Victim, e.At, e.Err)
}

// Unwrap is the cause.
func (e *RestartError) Unwrap() error { return e.Err }

// Verdict returns the verdict on a component that does not start again. The driver is to blame if
// its program exits; all other errors may be those of a slow machine.
func (e *RestartError) Verdict() verdict.Verdict {
	if judged := (interface{ Verdict() verdict.Verdict })(nil); errors.As(e.Err, &judged) {
		return judged.Verdict() // another release was started
	}
	text, _, _ := strings.Cut(e.Error(), "\n")
	v := verdict.Plain(text)
	v.Method, v.Form = e.At, doesNotRestart
	if exits := (interface{ ProgramExited() bool })(nil); errors.As(e.Err, &exits) && exits.ProgramExited() {
		v.Breaks = verdict.Alive
	}
	return v
}

// doesNotRestart is the form of that verdict.
const doesNotRestart verdict.Form = "does not start again"
