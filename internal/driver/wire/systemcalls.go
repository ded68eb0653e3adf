package wire

import (
	"context"
	"fmt"
	"path"

	"google.golang.org/grpc"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/effect"
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

// WatchCalls watches the system calls that the called program makes in this call. Meanwhile the
// program gets no other call of the cluster, because its system calls could not be assigned to one
// of several calls. The watch is nil if no program of the run is called. If the program's system
// calls are not shown, the run ends.
func (c *call) WatchCalls(purpose string, i machine.Interference) *machine.CallWatch {
	program := c.Program()
	if program == nil {
		return nil
	}
	w := program.NewCallWatch(i)
	if w == nil {
		c.wire.World.Kernel.Interrupt(fmt.Errorf("%s: %w", purpose, effect.ErrUnseen))
	}
	c.watch = w
	return w
}

// RecordCalls records the system calls that a watch has seen, with the fault's effect on a
// call. It returns the number of failed calls.
func (c *call) RecordCalls(w *machine.CallWatch, injected string) (failed int) {
	for _, seen := range w.Seen() {
		c.wire.SawMount(c, seen)
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

// named returns a path in its recorded form: the random number of a temporary file becomes *.
func named(name string) string {
	if uid().MatchString(path.Base(name)) {
		return name
	}
	return temporary().ReplaceAllString(name, "*$1")
}

// PassShown passes the call to the driver, and records its system calls if they are observed.
func (c *call) PassShown() error {
	if c.wire.ShowSystemCalls && fault.HasEffect(path.Base(c.method)) {
		if w := c.WatchCalls("system calls of "+c.site.Driver, machine.Interference{}); w != nil {
			defer func() {
				w.End()
				c.RecordCalls(w, "")
			}()
		}
	}
	return c.Pass(c.answer)
}
