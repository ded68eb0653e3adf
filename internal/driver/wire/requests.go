package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/trace"
)

// served is a client of a program. It watches the program's HTTP requests from the start of the
// call.
type served struct {
	grpc.ClientConnInterface
	door  *standin.Door
	watch *standin.Watch
}

// Invoke makes the call.
func (s served) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	s.door.Watch(s.door.Machine, s.watch)
	return s.ClientConnInterface.Invoke(ctx, method, request, answer, opts...)
}

// door returns the door through which the called program reaches a stand-in that shows its
// requests; nil for none.
func (c *call) door() *standin.Door {
	if c.wire.ServiceAt == nil {
		return nil
	}
	return c.wire.ServiceAt(c.site)
}

// watchRequests prepares to see the requests of a call that has an effect. It is nil if none are
// seen.
func (c *call) watchRequests() *standin.Door {
	door := c.door()
	if door == nil || c.overlap != nil || !fault.HasEffect(path.Base(c.method)) {
		return nil // of calls at once, the real clock would decide which request comes first
	}
	if c.requests == nil {
		c.requests = standin.NewWatch(standin.Interference{})
	}
	return door
}

// recordRequests records the requests that are not in the trace yet.
func (c *call) recordRequests() {
	seen := c.requests.Seen()
	for _, r := range seen[c.requestsRecorded:] {
		e := trace.Entry{
			Kind: trace.Request, Actor: c.site.Driver, Node: c.site.Node, Driver: c.site.Driver, Method: r.Method,
			Resource: r.Route, Name: r.Path, Message: answered(r), Cause: c.event.Seq,
		}
		if r.Failed && c.struck != nil {
			e.Injected = c.struck.Fails
		}
		c.wire.World.Trace.Add(e)
	}
	c.requestsRecorded = len(seen)
}

// localPort is an address of the loopback interface with a port that is another one in each run.
var localPort = lazyregexp.New(`127\.0\.0\.1:[0-9]+`)

// withoutPorts is an error of a driver as it is recorded: clients name ports in their errors.
func (c *call) withoutPorts(err error) error {
	s, is := status.FromError(err)
	if err == nil || !is || c.door() == nil || !localPort().MatchString(s.Message()) {
		return err
	}
	p := s.Proto()
	p.Message = localPort().ReplaceAllString(p.Message, "127.0.0.1:*")
	return status.ErrorProto(p)
}

func answered(r standin.Request) string {
	if r.Status == 0 {
		return "connection reset"
	}
	return fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status))
}

// sendFailingRequest gives the call to the driver, and lets some of the driver's HTTP requests
// fail.
func (c *call) sendFailingRequest(f *fault.Fault) error {
	if c.door() == nil {
		f.SetHits(0)
		return c.passShown()
	}
	c.requests = standin.NewWatch(standin.Interference{
		Pattern: f.Request.Pattern, Nth: f.Request.Nth, Times: f.Left(), Status: f.Status(),
		Reset: f.Fails == fault.Reset, Slow: f.Fails == fault.Slow, Stale: f.Fails == fault.Stale,
	})
	if f.Fails == fault.Slow {
		return c.takeTime(func(p *kernel.Process, answer proto.Message) error { return c.deliverSlowly(p, f, answer) })
	}
	defer func() {
		failed := 0
		for _, r := range c.requests.Seen() {
			if r.Failed {
				failed++
			}
		}
		f.SetHits(failed)
		if failed > 0 {
			c.ownAnswer = true
			c.befell(f)
		}
	}()
	return c.pass(c.process, c.answer)
}

// deliverSlowly gives the call to the driver. One of the driver's HTTP requests is answered only
// after the caller has given up and called again.
func (c *call) deliverSlowly(p *kernel.Process, f *fault.Fault, answer proto.Message) error {
	defer c.requests.End()
	c.held = &held{reached: c.requests.Reached}
	err := c.deliver(p, answer)
	if !errors.Is(err, errHeld) {
		f.SetHits(0)
		return err
	}
	c.befell(f)
	c.wire.stalled[c.site.Driver]++
	defer func() { c.wire.stalled[c.site.Driver]-- }()
	p.Sleep(c.site.Deadline - p.Elapsed() + stallTime)
	c.requests.End()
	return c.deliver(p, answer)
}
