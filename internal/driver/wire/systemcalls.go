package wire

import (
	"context"
	"errors"
	"fmt"
	"path"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// watched is a client of a program. It watches the program's system calls during a call.
type watched struct {
	grpc.ClientConnInterface
	watch *machine.CallWatch
}

// Invoke makes the call.
func (w watched) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	w.watch.Begin()
	defer w.watch.End()
	return w.ClientConnInterface.Invoke(ctx, method, request, answer, opts...)
}

// watchCalls watches the system calls that the called program makes in this call. The program gets
// no other call of the cluster meanwhile: its system calls could not be assigned to one of them.
// The watch is nil if no program of the run is called. If the program's system calls are not shown,
// the run ends.
func (c *call) watchCalls(what string, i machine.Interference) *machine.CallWatch {
	program := c.program()
	if program == nil {
		return nil
	}
	w := program.NewCallWatch(i)
	if w == nil {
		c.wire.World.Kernel.Interrupt(fmt.Errorf("%s: %w", what, errUnseen))
	}
	c.watch = w
	return w
}

// recordSystemCalls records the system calls that a watch has seen, with the fault's effect on a
// call. It returns the number of failed calls.
func (c *call) recordSystemCalls(w *machine.CallWatch, injected string) (failed int) {
	for _, seen := range w.Seen() {
		c.sawMount(seen)
		e := trace.Entry{
			Kind: trace.SystemCall, Actor: c.site.Driver, Node: c.site.Node, Driver: c.site.Driver, Method: seen.Name,
			Name: named(c.wire.Renamed(seen.Path)), Cause: c.event.Seq,
		}
		if seen.From != "" {
			e.Message = "from " + named(c.wire.Renamed(seen.From))
		}
		if seen.Failed {
			failed++
		}
		if seen.Failed || seen.Held {
			e.Injected = injected
		}
		c.wire.World.Trace.Add(e)
	}
	return failed
}

var (
	temporary = lazyregexp.New(`[0-9]{5,}(\.\w+)?$`)
	uid       = lazyregexp.New(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)

// named is a path as it is recorded: the number that a temporary file has by chance is *.
func named(name string) string {
	if uid().MatchString(path.Base(name)) {
		return name
	}
	return temporary().ReplaceAllString(name, "*$1")
}

// passShown gives the call to the driver and records its system calls, if they are to be.
func (c *call) passShown() error {
	if c.wire.ShowSystemCalls && fault.HasEffect(path.Base(c.method)) {
		if w := c.watchCalls("system calls of "+c.site.Driver, machine.Interference{}); w != nil {
			defer func() {
				w.End()
				c.recordSystemCalls(w, "")
			}()
		}
	}
	return c.pass(c.process, c.answer)
}

// sendFailing gives the call to the driver, and lets some of its program's system calls fail.
func (c *call) sendFailing(f *fault.Fault) error {
	w := c.watchCalls("fault "+f.Name, machine.Interference{At: pointOf(f), Fails: f.Errno(), Times: f.Left()})
	if w == nil {
		f.SetHits(0)
		return c.pass(c.process, c.answer)
	}
	defer func() {
		w.End()
		failed := c.recordSystemCalls(w, f.Fails)
		f.SetHits(failed)
		if failed > 0 {
			c.ownAnswer = true
			c.befell(f)
		}
	}()
	return c.pass(c.process, c.answer)
}

// befell records the effect of a fault on the call.
func (c *call) befell(f *fault.Fault) {
	c.event.Injected, c.event.Effect = f.InWords(), trace.Effect(f.Effect)
}

// pointOf is the system call of a fault, as machines know it.
func pointOf(f *fault.Fault) machine.Point {
	return machine.Point{Name: f.System.Name, Path: f.System.Path, Nth: f.System.Nth}
}

// crashBefore makes the call, and kills the victim just before the driver's program makes a certain
// system call. If the program does not make it, the victim lives.
func (c *call) crashBefore(p *kernel.Process, f *fault.Fault, answer proto.Message) error {
	w := c.watchCalls("fault "+f.Name, machine.Interference{At: pointOf(f)})
	if w == nil {
		f.SetHits(0)
		return c.deliver(p, answer)
	}
	defer w.End()
	c.held = &held{reached: w.Reached}
	err := c.deliver(p, answer)
	c.recordSystemCalls(w, fmt.Sprintf("%s killed before it", f.Victim))
	if !errors.Is(err, errHeld) {
		f.SetHits(0)
		return err
	}
	c.befell(f)
	c.kill(f)
	if f.KillsDriver() {
		return errConnectionLost
	}
	w.End()
	return c.deliver(p, answer)
}
