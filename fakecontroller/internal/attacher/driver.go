package attacher

import (
	"time"

	"google.golang.org/grpc"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
)

// shortCall is the common deadline of all requests at the start. C-ATT-1
const shortCall = time.Second

// features holds the driver's capabilities, requested once per start. C-LIB-3
type features struct {
	driver                string
	finalizer             string // on attachments and volumes. C-ATT-13
	attach                bool   // C-ATT-2
	readOnly              bool
	singleNodeMultiWriter bool
	listsPublished        bool
}

// askDriver waits for the driver and requests its features; a failed request ends the sidecar.
func (r *run) askDriver(p *kernel.Process) features {
	d := r.life.Connect(p, r.wire, r.site(), sidecar.Patience{Probe: r.opts.Timeout, Answer: shortCall, Together: true})
	publish := d.Can("PUBLISH_UNPUBLISH_VOLUME")
	return features{
		driver: d.Name, finalizer: finalizerOf(d.Name), attach: publish, readOnly: d.Can("PUBLISH_READONLY"),
		singleNodeMultiWriter: d.Can("SINGLE_NODE_MULTI_WRITER"),
		listsPublished:        publish && d.Can("LIST_VOLUMES") && d.Can("LIST_VOLUMES_PUBLISHED_NODES"),
	}
}

func (r *run) site() wire.Site {
	return wire.Site{Caller: r.opts.Called(Caller), Driver: r.opts.Driver, Machine: r.opts.Machine, Socket: r.opts.Socket}
}

func (r *run) conn(p *kernel.Process, timeout time.Duration) grpc.ClientConnInterface {
	return r.connUntil(p, p.Elapsed()+timeout)
}

func (r *run) connUntil(p *kernel.Process, deadline time.Duration) grpc.ClientConnInterface {
	site := r.site()
	site.Deadline = deadline
	return r.wire.Conn(p, site)
}
