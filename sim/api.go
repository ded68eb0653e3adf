package sim

import (
	"context"
	"net/netip"

	snapshots "github.com/kubernetes-csi/external-snapshotter/client/v8/clientset/versioned"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/world/version"
)

// API returns the cluster's Kubernetes API server. Clients in this process use it directly, and
// net/http can serve it to others. It is safe for concurrent use.
//
// The first call starts it; its watches do not deliver earlier writes.
func (c *Simulation) API() *apiserver.Server { return c.api() }

// startAPI starts the API server, and the components that only its clients need.
func (c *Simulation) startAPI() *apiserver.Server {
	server := apiserver.New(c.World.Store, apiserver.Options{
		Token: c.options.Token, Exclusive: c.run.gate.Enter, Now: c.World.Kernel.Now, Nodes: cluster.Containers{Nodes: &c.nodes, DialTo: c.options.dial},
		Version: func() version.Version { return c.World.Version }, Legacy: !c.World.Began.Has(version.CSINode),
	})
	address, _ := netip.ParseAddrPort(c.options.Address) // not valid within a process
	fakecontroller.StartForClients(c.World, address, c.options.Authority)
	c.nodes.PublishLeases()
	return server
}

// RESTConfig configures clients of any kind, including those of controller-runtime. They do not use
// a socket.
func (c *Simulation) RESTConfig() *rest.Config {
	config := c.API().Config()
	config.ContentConfig = rest.ContentConfig{} // some resources have no protobuf form
	return config
}

// Client returns a client of the cluster's API.
func (c *Simulation) Client() kubernetes.Interface {
	return kubernetes.NewForConfigOrDie(c.API().Config())
}

// DynamicClient returns a client for objects of any kind, without their Go types.
func (c *Simulation) DynamicClient() dynamic.Interface {
	return dynamic.NewForConfigOrDie(c.RESTConfig())
}

// SnapshotClient returns a client for snapshots and groups of them.
func (c *Simulation) SnapshotClient() snapshots.Interface {
	return snapshots.NewForConfigOrDie(c.RESTConfig())
}

// Live runs the cluster by the real clock, until ctx is done or an unexpected error occurs. One
// second of the real clock is speed seconds of the cluster.
func (c *Simulation) Live(ctx context.Context, speed float64) error {
	c.run.gate.While(func() { c.World.Kernel.RunLive(ctx.Done(), speed) })
	return c.World.Kernel.Err()
}
