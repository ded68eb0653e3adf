package sim

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/store"
)

// askTimeout limits, in wall time, the few requests to a driver outside the run; a program has its
// own start timeout.
const askTimeout = 10 * time.Second

// ask sends a request outside the run to a plugin: no trace has it.
func (p *plugin) ask(what string, question func(context.Context, grpc.ClientConnInterface) error) error {
	return p.askAt(p.socket, what, question)
}

// askAt sends a request as ask does, to another socket of the plugin.
func (p *plugin) askAt(socket, what string, question func(context.Context, grpc.ClientConnInterface) error) error {
	client, err := p.callUp(socket)
	if err != nil {
		return &EnvironmentError{Doing: "reach " + p.String(), Err: err}
	}
	timeout := askTimeout
	if program := p.driver.Program; program != nil && program.StartTimeout > 0 {
		timeout = program.StartTimeout
	}
	ctx, cancel := context.WithTimeout(p.interrupt, timeout)
	defer cancel()
	if err = question(ctx, client); err != nil {
		p.hangUp()
	}
	switch {
	case err == nil:
		return nil
	case p.interrupt.Err() != nil:
		err = context.Cause(p.interrupt)
	case ctx.Err() != nil || status.Code(err) == codes.DeadlineExceeded:
		err = fmt.Errorf("no answer within %v", timeout)
	}
	return &EnvironmentError{Doing: fmt.Sprintf("ask %s for its %s", p, what), Err: err}
}

// line is a connection for requests to a plugin.
type line struct {
	socket string
	client grpc.ClientConnInterface
	closer io.Closer
}

func (p *plugin) callUp(socket string) (grpc.ClientConnInterface, error) {
	if p.line != nil && p.line.socket == socket {
		return p.line.client, nil
	}
	p.hangUp()
	client, closer, err := p.machine.DialSocket(socket)
	if err != nil {
		return nil, err
	}
	p.line = &line{socket, client, closer}
	return client, nil
}

func (p *plugin) hangUp() {
	if p.line != nil {
		_ = p.line.closer.Close() // further answers are not needed
		p.line = nil
	}
}

// learnName requests the name of a driver that ran before the cluster started.
func (p *plugin) learnName() error {
	var name string
	err := p.ask("name (GetPluginInfo)", func(ctx context.Context, client grpc.ClientConnInterface) error {
		info, err := csi.NewIdentityClient(client).GetPluginInfo(ctx, &csi.GetPluginInfoRequest{})
		name = info.GetName()
		return err
	})
	if err != nil {
		return err
	}
	return p.driver.named(p, name)
}

// named records the name that a driver returns for itself.
func (d *driver) named(p *plugin, name string) error {
	switch {
	case name == "":
		return &EnvironmentError{Doing: "start " + p.String(), Err: fmt.Errorf("GetPluginInfo answers an empty name")}
	case d.Name == "":
		d.Name = name
	case d.Name != name:
		return &EnvironmentError{Doing: "start " + p.String(), Err: fmt.Errorf("GetPluginInfo answers the name %q, the scenario says %q", name, d.Name)}
	}
	return nil
}

// promises returns the capabilities of a driver's controller plugin by name, such as
// PUBLISH_UNPUBLISH_VOLUME; none without a controller plugin.
func (d *driver) promises() (map[string]bool, error) {
	p := d.controller
	if p == nil && d.Sidecars.Provisioner.NodeDeployment && len(d.nodes) > 0 {
		p = values(d.nodes)[0]
	}
	if p == nil {
		return map[string]bool{}, nil
	}
	return p.promises()
}

// promises are the capabilities of the controller service that a plugin serves.
func (p *plugin) promises() (map[string]bool, error) {
	promised := map[string]bool{}
	err := p.ask("capabilities (ControllerGetCapabilities)", func(ctx context.Context, client grpc.ClientConnInterface) error {
		answer, err := csi.NewControllerClient(client).ControllerGetCapabilities(ctx, &csi.ControllerGetCapabilitiesRequest{})
		for _, capability := range answer.GetCapabilities() {
			promised[contract.ControllerCapability(capability)] = true
		}
		return err
	})
	return promised, err
}

// expandsOnNodes reports whether a controller plugin serves the node service, too, and says that
// nodes expand volumes, as csi-resizer asks.
func (p *plugin) expandsOnNodes() (expands bool) {
	_ = p.ask("capabilities (NodeGetCapabilities)", func(ctx context.Context, client grpc.ClientConnInterface) error {
		answer, err := csi.NewNodeClient(client).NodeGetCapabilities(ctx, &csi.NodeGetCapabilitiesRequest{})
		for _, capability := range answer.GetCapabilities() {
			expands = expands || capability.GetRpc().GetType() == csi.NodeServiceCapability_RPC_EXPAND_VOLUME
		}
		return err
	})
	return expands
}

// installCSIDriver creates the driver's CSIDriver object, as its deployment would.
func (c *Simulation) installCSIDriver(d *driver) error {
	if d.NoCSIDriver || d.registersItself() && d.CSIDriver == nil {
		return nil
	}
	spec := storagev1.CSIDriverSpec{}
	if d.CSIDriver != nil {
		spec = *d.CSIDriver
	}
	if spec.AttachRequired == nil {
		attaches := d.promised["PUBLISH_UNPUBLISH_VOLUME"]
		spec.AttachRequired = &attaches
	}
	if err := c.createCSIDriver(&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: d.Name}, Spec: spec}); err != nil {
		return &ConfigError{Subject: fmt.Sprintf("driver %q", d.Name), Problem: "its CSIDriver object is refused: " + err.Error()}
	}
	return nil
}

// registersItself reports whether cluster-driver-registrar creates the driver's CSIDriver object.
// When it ends, it leaves the object behind. C-CDR-3
func (d *driver) registersItself() bool {
	return d.Sidecars.ClusterRegistrar != nil || d.external(ClusterRegistrar)
}

// createCSIDriver makes the object in the form that the cluster knows. L-CDR-2
func (c *Simulation) createCSIDriver(d *storagev1.CSIDriver) error {
	if c.legacy() {
		_, err := store.Create(c.World.Store, legacy.FromCSIDriver(d))
		return err
	}
	_, err := store.Create(c.World.Store, d)
	return err
}

// zone is the zone of a node for the mock driver: the node's label under the driver's topology key,
// otherwise its well-known zone.
func (d *driver) zone(n Node) string {
	if d.Mock == nil {
		return ""
	}
	return cmp.Or(n.Labels[d.topologyKey()], n.Zone)
}

func (d *driver) topologyKey() string { return cmp.Or(d.Mock.TopologyKey, d.Name+"/zone") }

// topology returns the segments that the mock driver of a plugin reports for its node: its zone
// under the driver's topology key. A node without a zone has its id as its zone.
func (p *plugin) topology() map[string]string {
	if o := p.driver.mockOptions(p.version); o.Topology && p.zone != "" {
		return map[string]string{cmp.Or(o.TopologyKey, p.driver.Name+"/zone"): p.zone}
	}
	return nil
}
