package livenessprobe

import (
	"context"
	"errors"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
)

const (
	// redial is the pause between two attempts to connect. C-LIB-1
	redial = time.Second
	// unbounded is the deadline of the first request: it has no limit. C-LIVE-1
	unbounded = 10 * time.Minute
)

// run is the sidecar from one start to its end.
type run struct {
	*component.Component
	wire    *wire.Wire
	options Options
	target  sidecar.Target
	life    *sidecar.Life
}

// Start starts the sidecar beside a plugin. It serves at the endpoint.
func Start(w *component.World, wire *wire.Wire, o Options, at sidecar.Target, e *Endpoint) *sidecar.Program {
	return sidecar.Run(w, sidecar.Flags{Restart: o.Restart}, func(life *sidecar.Life) *component.Component {
		r := &run{Component: w.Start(Name+"/"+at.Driver, at.Node), wire: wire, options: o.withDefaults(), target: at, life: life}
		e.server = nil
		r.Go("main", func(p *kernel.Process) {
			r.meet(p)
			e.server = r
			p.Wait("requests to /healthz", func() bool { return false })
		})
		return r.Component
	})
}

// meet waits for a connection without a limit, and requests the driver's name. If the driver
// returns an error, the program exits. Until then /healthz refuses connections. C-LIVE-1
func (r *run) meet(p *kernel.Process) {
	for {
		if _, err := r.target.Machine.Lstat(r.target.Socket); err == nil {
			_, err := r.identity(p, p.Elapsed()+unbounded).GetPluginInfo(context.Background(), &csi.GetPluginInfoRequest{})
			switch {
			case err == nil:
				return
			case !wire.NobodyListens(err):
				r.life.Failed(p)
			}
		}
		p.Idle(redial)
	}
}

// check answers one request to /healthz by one Probe on a new connection. An answer without
// readiness means that the driver is ready. C-LIVE-2
func (r *run) check(p *kernel.Process, deadline time.Duration) error {
	answer, err := r.identity(p, min(deadline, p.Elapsed()+r.options.ProbeTimeout)).Probe(context.Background(), &csi.ProbeRequest{})
	if err == nil && answer.GetReady() != nil && !answer.GetReady().GetValue() {
		return errors.New("driver responded but is not ready")
	}
	return err
}

func (r *run) identity(p *kernel.Process, deadline time.Duration) csi.IdentityClient {
	return csi.NewIdentityClient(r.wire.Conn(p, wire.Site{
		Caller: Name, Driver: r.target.Driver, Node: r.target.Node, Machine: r.target.Machine, Socket: r.target.Socket, Deadline: deadline,
	}))
}
