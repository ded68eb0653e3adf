package snapshotter

import (
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
)

func (r *run) site() wire.Site {
	return wire.Site{Caller: r.opts.Called(Caller), Driver: r.opts.Driver, Machine: r.opts.Machine, Socket: r.opts.Socket}
}

// conn returns a connection for the calls of one operation. They share a deadline.
func (r *run) conn(p *kernel.Process) grpc.ClientConnInterface {
	site := r.site()
	site.Deadline = p.Elapsed() + r.opts.Timeout
	return r.wire.Conn(p, site)
}

// isFinal reports whether the driver does nothing more after an error. C-SNAP-35
func isFinal(err error) bool {
	var s interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &s) {
		return false
	}
	switch s.GRPCStatus().Code() {
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable, codes.ResourceExhausted, codes.Aborted:
		return false
	}
	return true
}
