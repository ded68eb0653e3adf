package resizer

import (
	"context"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
)

// features holds the driver's capabilities, requested once per start. C-LIB-3
type features struct {
	driver   string
	expand   bool // in the control plane
	nodeOnly bool // expansion on nodes only: the controller plugin gets no calls
	modify   bool
}

func (f features) expands() bool { return f.expand || f.nodeOnly }

// askDriver waits for the driver and requests its features. A failed request ends the sidecar.
// C-RES-2
func (r *run) askDriver(p *kernel.Process) features {
	d := r.life.Connect(p, r.wire, r.site(), sidecar.Patience{Probe: r.opts.Timeout, Answer: r.opts.Timeout})
	f, err := r.featuresOf(p, d)
	if err != nil {
		r.life.Failed(p)
	}
	return f
}

// featuresOf makes a separate request for each capability, as in the trace registration.
func (r *run) featuresOf(p *kernel.Process, d sidecar.Driver) (f features, err error) {
	f = features{driver: d.Name, expand: d.Can("EXPAND_VOLUME")}
	switch {
	case !d.Serves("CONTROLLER_SERVICE"):
		return f, nil
	case f.expand:
		_, err = r.singleNodeMultiWriter(p)
	default:
		f.nodeOnly = r.nodeExpands(p)
	}
	if err == nil && r.opts.modifies() {
		f.modify, err = r.controllerCan(p, csi.ControllerServiceCapability_RPC_MODIFY_VOLUME)
	}
	return f, err
}

// nodeExpands queries the controller plugin, because it may also serve the node service.
func (r *run) nodeExpands(p *kernel.Process) bool {
	answer, err := csi.NewNodeClient(r.conn(p)).NodeGetCapabilities(context.Background(), &csi.NodeGetCapabilitiesRequest{})
	if err != nil {
		return false
	}
	for _, c := range answer.GetCapabilities() {
		if c.GetRpc().GetType() == csi.NodeServiceCapability_RPC_EXPAND_VOLUME {
			return true
		}
	}
	return false
}

// singleNodeMultiWriter requests the capability, before every expansion. C-RES-18
func (r *run) singleNodeMultiWriter(p *kernel.Process) (bool, error) {
	return r.controllerCan(p, csi.ControllerServiceCapability_RPC_SINGLE_NODE_MULTI_WRITER)
}

func (r *run) controllerCan(p *kernel.Process, capability csi.ControllerServiceCapability_RPC_Type) (bool, error) {
	answer, err := csi.NewControllerClient(r.conn(p)).ControllerGetCapabilities(context.Background(), &csi.ControllerGetCapabilitiesRequest{})
	if err != nil {
		return false, err
	}
	for _, c := range answer.GetCapabilities() {
		if c.GetRpc().GetType() == capability {
			return true, nil
		}
	}
	return false, nil
}

func (r *run) site() wire.Site {
	return wire.Site{Caller: r.opts.Called(Caller), Driver: r.opts.Driver, Machine: r.opts.Machine, Socket: r.opts.Socket}
}

// conn returns a connection for one call.
func (r *run) conn(p *kernel.Process) grpc.ClientConnInterface {
	site := r.site()
	site.Deadline = p.Elapsed() + r.opts.Timeout
	return r.wire.Conn(p, site)
}

// resyncPeriod is the interval at which the informers deliver all objects again. C-RES-1
const resyncPeriod = 10 * time.Minute
