// Package clusterregistrar is the in-process equivalent of cluster-driver-registrar. This old
// sidecar creates the CSIDriver object of its driver, which deployments now contain themselves.
package clusterregistrar

import (
	"context"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/version"
)

const (
	timeout = time.Second     // for all requests together. C-CDR-1, L-CDR-1
	pause   = 2 * time.Minute // pause between two attempts to make the object. C-CDR-2, L-CDR-2
	redial  = time.Second     // C-LIB-1
	// connectTimeout bounds the time that version 1.0 waits for the driver; version 1.1 has no
	// limit.
	connectTimeout = time.Minute
)

// run is the sidecar from one start to its end.
type run struct {
	*component.Component
	wire    *wire.Wire
	options Options
	target  sidecar.Target
	life    *sidecar.Life
}

func start(w *component.World, over *wire.Wire, o Options, at sidecar.Target) *sidecar.Program {
	flags := sidecar.Flags{Restart: o.Restart}.Beside(at)
	return sidecar.Run(w, flags, func(life *sidecar.Life) *component.Component {
		r := &run{Component: w.Start(flags.Called(Name), ""), wire: over, options: o, target: at, life: life}
		r.Go("main", r.main)
		return r.Component
	})
}

// main calls the driver once. Then it creates the object repeatedly, whatever the driver's state.
// It never changes an existing object. It deletes the object on SIGINT, which kubelets never send.
// SIGTERM ends it immediately, and the object stays. C-CDR-2, C-CDR-3
func (r *run) main(p *kernel.Process) {
	driver := r.describe(p)
	for {
		r.create(p, driver)
		p.Idle(pause)
	}
}

// describe returns the object that results from the driver and the flags. C-CDR-1
func (r *run) describe(p *kernel.Process) *storagev1.CSIDriver {
	name, deadline := r.meet(p)
	driver := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if r.isOld() {
		return driver
	}
	answer, err := csi.NewControllerClient(r.conn(p, deadline)).ControllerGetCapabilities(context.Background(), &csi.ControllerGetCapabilitiesRequest{})
	if err != nil {
		r.life.Failed(p)
	}
	attaches := false
	for _, c := range answer.GetCapabilities() {
		attaches = attaches || contract.ControllerCapability(c) == "PUBLISH_UNPUBLISH_VOLUME"
	}
	driver.Spec.AttachRequired, driver.Spec.PodInfoOnMount = &attaches, &r.options.PodInfo
	return driver
}

// meet waits until a server listens at the socket, and requests the driver's name. The deadline is
// the deadline of all requests.
func (r *run) meet(p *kernel.Process) (name string, deadline time.Duration) {
	for began := p.Elapsed(); ; p.Idle(redial) {
		if _, err := r.target.Machine.Lstat(r.target.Socket); err == nil {
			deadline = p.Elapsed() + timeout
			info, err := csi.NewIdentityClient(r.conn(p, deadline)).GetPluginInfo(context.Background(), &csi.GetPluginInfoRequest{})
			switch {
			case err == nil:
				return info.GetName(), deadline
			case !wire.NobodyListens(err):
				r.life.Failed(p)
			}
		}
		if r.isOld() && p.Elapsed() >= began+connectTimeout {
			r.life.Failed(p)
		}
	}
}

// create creates the object in the form that the cluster supports. An existing object counts as
// success; another error is retried after the pause. L-CDR-2
func (r *run) create(p *kernel.Process, driver *storagev1.CSIDriver) {
	if !r.isOld() {
		_, _ = component.Create(p, r.Component, driver.DeepCopy())
		return
	}
	attaches := r.options.RequiresAttachment == nil || *r.options.RequiresAttachment
	_, _ = component.Create(p, r.Component, &legacy.CSIDriver{
		ObjectMeta: driver.ObjectMeta, Spec: legacy.CSIDriverSpec{AttachRequired: &attaches, PodInfoOnMountVersion: &r.options.PodInfoVersion},
	})
}

// isOld reports whether the program is the release for Kubernetes 1.13.
func (r *run) isOld() bool { return !r.Began.Has(version.CSINode) }

func (r *run) conn(p *kernel.Process, deadline time.Duration) grpc.ClientConnInterface {
	return r.wire.Conn(p, wire.Site{
		Caller: r.Name, Driver: r.target.Driver, Machine: r.target.Machine, Socket: r.target.Socket, Deadline: deadline,
	})
}
