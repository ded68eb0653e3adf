package sim

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/world/addons/capability"
	"github.com/csisim/csisim/internal/world/addons/fence"
	"github.com/csisim/csisim/internal/world/addons/identity"
)

// AddonsPromise is a driver's promise about CSI-Addons.
type AddonsPromise struct {
	// Capabilities are the capabilities of the controller plugin and the node plugins. The keys are
	// names as in a CSIAddonsNode, such as reclaim_space.OFFLINE.
	Capabilities map[string]bool
	// Clients are the address ranges of each node that its plugin reports.
	Clients map[string][]string
}

// AddonsPromises requests the CSI-Addons capabilities of a driver's plugins. It returns none if
// they do not serve the identity of CSI-Addons. The requests are not part of the run. A plugin with
// an exited program promises nothing; expect.Alive judges the exit. The error is an
// *EnvironmentError.
func (c *Simulation) AddonsPromises(name string) (AddonsPromise, error) {
	promise := AddonsPromise{Capabilities: map[string]bool{}, Clients: map[string][]string{}}
	for _, p := range c.drivers.Plugins(c.drivers.Find(name)) {
		if !p.Running {
			continue
		}
		if err := promise.learn(p); err != nil && !p.HasExited() {
			return promise, err
		}
	}
	return promise, nil
}

func (a AddonsPromise) learn(p *cluster.Plugin) error {
	return p.AskAt(p.Addons, "capabilities of CSI-Addons", func(ctx context.Context, conn grpc.ClientConnInterface) error {
		answer, err := identity.NewIdentityClient(conn).GetCapabilities(ctx, &identity.GetCapabilitiesRequest{})
		if status.Code(err) == codes.Unimplemented && p.Addons == p.Socket {
			return nil
		}
		knowsClients := false
		for _, has := range answer.GetCapabilities() {
			a.Capabilities[capability.Name(has)] = true
			knowsClients = knowsClients || capability.Name(has) == "network_fence.GET_CLIENTS_TO_FENCE"
		}
		if err != nil || p.Node == "" || !knowsClients {
			return err
		}
		clients, err := fence.NewFenceControllerClient(conn).GetFenceClients(ctx, &fence.GetFenceClientsRequest{})
		for _, client := range clients.GetClients() {
			for _, address := range client.GetAddresses() {
				a.Clients[p.Node] = append(a.Clients[p.Node], address.GetCidr())
			}
		}
		if status.Code(err) == codes.Unimplemented {
			return nil // the trial of CSI-Addons reports this
		}
		return err
	})
}
