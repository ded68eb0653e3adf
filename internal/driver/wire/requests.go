package wire

import (
	"context"
	"fmt"
	"net/http"
	"path"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/trace"
)

// served is a client of a program. It watches the program's HTTP requests from the start of the
// call.
type served struct {
	grpc.ClientConnInterface
	access *standin.Access
	watch  *standin.Watch
}

// Invoke makes the call.
func (s served) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	s.access.Watch(s.access.Machine, s.watch)
	return s.ClientConnInterface.Invoke(ctx, method, request, answer, opts...)
}

// Service returns the called program's access to a stand-in that reports its requests; nil if there
// is none.
func (c *call) Service() *standin.Access {
	if c.wire.ServiceAt == nil {
		return nil
	}
	return c.wire.ServiceAt(c.site)
}

// watchRequests prepares to record the requests of a call that has an effect. It is nil if requests
// are not recorded.
func (c *call) watchRequests() *standin.Access {
	access := c.Service()
	if access == nil || c.requestsHidden || !fault.HasEffect(path.Base(c.method)) {
		return nil
	}
	if c.requests == nil {
		c.requests = standin.NewWatch(standin.Interference{})
	}
	return access
}

// recordRequests records the requests that are not in the trace yet.
func (c *call) recordRequests() {
	seen := c.requests.Seen()
	for _, r := range seen[c.requestsRecorded:] {
		e := trace.Entry{
			Kind: trace.Request, Actor: c.site.Driver, Node: c.site.Node, Driver: c.site.Driver, Method: r.Method,
			Resource: r.Route, Name: r.Path, Message: answered(r), Cause: c.event.Seq,
		}
		if r.Failed && c.fault != nil {
			e.Injected = c.fault.Fails
		}
		c.wire.World.Trace.Add(e)
	}
	c.requestsRecorded = len(seen)
}

// localPort is an address of the loopback interface with a port that varies between runs.
var localPort = lazyregexp.New(`127\.0\.0\.1:[0-9]+`)

// withoutPorts removes ports from a driver's error for the trace, because errors of clients contain
// their ports.
func (c *call) withoutPorts(err error) error {
	s, is := status.FromError(err)
	if err == nil || !is || c.Service() == nil || !localPort().MatchString(s.Message()) {
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
