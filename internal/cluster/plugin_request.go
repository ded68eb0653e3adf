package cluster

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

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/store"
)

// askTimeout limits, in wall time, the few requests to a driver outside the run. The start of a
// program has its own timeout.
const askTimeout = 10 * time.Second

// Ask sends a request outside the run to a plugin: no trace contains it.
func (p *Plugin) Ask(what string, question func(context.Context, grpc.ClientConnInterface) error) error {
	return p.AskAt(p.Socket, what, question)
}

// AskAt is Ask for another socket of the plugin.
func (p *Plugin) AskAt(socket, what string, question func(context.Context, grpc.ClientConnInterface) error) error {
	client, err := p.callUp(socket)
	if err != nil {
		return &EnvironmentError{Doing: "reach " + p.String(), Err: err}
	}
	timeout := askTimeout
	if p.Driver.StartTimeout > 0 {
		timeout = p.Driver.StartTimeout
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

func (p *Plugin) callUp(socket string) (grpc.ClientConnInterface, error) {
	if p.line != nil && p.line.socket == socket {
		return p.line.client, nil
	}
	p.hangUp()
	client, closer, err := p.Machine.DialSocket(socket)
	if err != nil {
		return nil, err
	}
	p.line = &line{socket, client, closer}
	return client, nil
}

func (p *Plugin) hangUp() {
	if p.line != nil {
		_ = p.line.closer.Close() // further answers are not needed
		p.line = nil
	}
}

// learnName requests the name of a driver that ran before the cluster started.
func (p *Plugin) learnName() error {
	var name string
	err := p.Ask("name (GetPluginInfo)", func(ctx context.Context, client grpc.ClientConnInterface) error {
		info, err := csi.NewIdentityClient(client).GetPluginInfo(ctx, &csi.GetPluginInfoRequest{})
		name = info.GetName()
		return err
	})
	if err != nil {
		return err
	}
	return p.Driver.named(p, name)
}

// named records the name that a driver returns for itself.
func (d *Driver) named(p *Plugin, name string) error {
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
func (d *Driver) promises() (map[string]bool, error) {
	p := d.Controller
	if p == nil && d.Sidecars.Provisioner.NodeDeployment && len(d.Nodes) > 0 {
		p = values(d.Nodes)[0]
	}
	if p == nil {
		return map[string]bool{}, nil
	}
	return p.promises()
}

// promises returns the capabilities of the controller service that a plugin serves.
func (p *Plugin) promises() (map[string]bool, error) {
	promised := map[string]bool{}
	err := p.Ask("capabilities (ControllerGetCapabilities)", func(ctx context.Context, client grpc.ClientConnInterface) error {
		answer, err := csi.NewControllerClient(client).ControllerGetCapabilities(ctx, &csi.ControllerGetCapabilitiesRequest{})
		for _, capability := range answer.GetCapabilities() {
			promised[contract.ControllerCapability(capability)] = true
		}
		return err
	})
	return promised, err
}

// expandsOnNodes reports whether a controller plugin also serves the node service and has its
// capability EXPAND_VOLUME. csi-resizer queries the same capability.
func (p *Plugin) expandsOnNodes() (expands bool) {
	_ = p.Ask("capabilities (NodeGetCapabilities)", func(ctx context.Context, client grpc.ClientConnInterface) error {
		answer, err := csi.NewNodeClient(client).NodeGetCapabilities(ctx, &csi.NodeGetCapabilitiesRequest{})
		for _, capability := range answer.GetCapabilities() {
			expands = expands || capability.GetRpc().GetType() == csi.NodeServiceCapability_RPC_EXPAND_VOLUME
		}
		return err
	})
	return expands
}

// RegisteredID returns the id under which a node is registered, or will be.
func (ds *Drivers) RegisteredID(d *Driver, node string) string {
	id := ""
	if csiNode, ok := store.Get[*storagev1.CSINode](ds.World.Store, store.Key{Name: node}); ok {
		for _, entry := range csiNode.Spec.Drivers {
			if entry.Name == d.Name {
				id = entry.NodeID
			}
		}
	}
	return cmp.Or(id, d.NodeID(node))
}
