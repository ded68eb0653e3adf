package sidecar

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/kernel"
)

// probeInterval is the pause between two probes. A-SIDE-3
const probeInterval = time.Second

// calls in virtual time do not use ctx.
var ctx = context.Background()

// probeForEver probes the driver repeatedly until it is ready, even after a probe has timed out.
// A-SIDE-3
func (r *run) probeForEver(p *kernel.Process) {
	for {
		answer, err := r.identity(p).Probe(ctx, &identity.ProbeRequest{})
		switch {
		case err != nil && status.Code(err) != codes.DeadlineExceeded:
			r.fail(p)
		case err == nil && (answer.GetReady() == nil || answer.GetReady().GetValue()):
			return
		}
		p.Sleep(probeInterval)
	}
}

// identity returns the driver's Identity service, for one request at the start.
func (r *run) identity(p *kernel.Process) identity.IdentityClient {
	return identity.NewIdentityClient(r.conn(relay.Call{Process: p, Deadline: p.Elapsed() + r.opts.Timeout}))
}

// conn returns a connection to the driver for one call. If it was lost, it is dialled again, which
// ends the program. A-SIDE-2
func (r *run) conn(c relay.Call) grpc.ClientConnInterface {
	site := wire.Site{Caller: r.opts.Caller, Driver: r.opts.Driver, Node: r.opts.Node, Machine: r.opts.Machine, Socket: r.opts.Socket, Deadline: c.Deadline}
	return dialled{r.wire.Conn(c.Process, site), r, c.Process}
}

type dialled struct {
	grpc.ClientConnInterface
	run     *run
	process *kernel.Process
}

// Invoke makes the call.
func (d dialled) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	if d.run.lost {
		d.run.exit(d.process)
	}
	d.run.goOn(d.process)
	return d.ClientConnInterface.Invoke(ctx, method, request, answer, opts...)
}

// goOn returns unless the sidecar is exiting.
func (r *run) goOn(p *kernel.Process) {
	p.Wait("the sidecar's end", func() bool { return !r.ends })
}

// exit ends the sidecar and does not return.
func (r *run) exit(p *kernel.Process) {
	r.ends = true
	r.life.Lost()
	p.Wait("the sidecar's end", func() bool { return false })
}
