package sim

import (
	"context"
	"net/netip"
	"sync"

	snapshots "github.com/kubernetes-csi/external-snapshotter/client/v8/clientset/versioned"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/world/version"
)

// gate admits clients of the API between two steps of the simulation, and whenever it stands still.
type gate struct {
	lock    sync.Mutex
	running bool
	waiting []func()
	post    func(func())
}

// enter runs use with exclusive access to the cluster.
func (g *gate) enter(use func()) {
	g.lock.Lock()
	if !g.running {
		defer g.lock.Unlock()
		use()
		return
	}
	done := make(chan struct{})
	g.waiting = append(g.waiting, func() {
		defer close(done)
		use()
	})
	g.lock.Unlock()
	g.post(g.admit)
	<-done
}

// admit admits the waiting uses.
func (g *gate) admit() {
	g.lock.Lock()
	waiting := g.waiting
	g.waiting = nil
	g.lock.Unlock()
	for _, use := range waiting {
		use()
	}
}

// while runs the simulation. admit serves the uses that arrive meanwhile, at the latest when the
// simulation stands still again.
func (g *gate) while(run func()) {
	g.lock.Lock()
	g.running = true
	g.lock.Unlock()
	run()
	g.lock.Lock()
	defer g.lock.Unlock()
	g.running = false
	for _, use := range g.waiting {
		use()
	}
	g.waiting = nil
}

// API is the cluster as a Kubernetes API server shows it, for clients in this
// process and, served by net/http, for others. It is safe for concurrent use.
//
// The first call turns it on: its watches do not see earlier writes.
func (c *Simulation) API() *apiserver.Server {
	c.api.once.Do(func() {
		c.api.server = apiserver.New(c.World.Store, apiserver.Options{
			Token: c.options.Token, Exclusive: c.run.gate.enter, Now: c.World.Kernel.Now, Nodes: insideNodes{c},
			Version: func() version.Version { return c.World.Version }, Legacy: c.legacy(),
		})
		c.startForClients()
	})
	return c.api.server
}

// startForClients starts components that only clients of the API need.
func (c *Simulation) startForClients() {
	address, _ := netip.ParseAddrPort(c.options.Address) // not valid within a process
	fakecontroller.StartForClients(c.World, address, c.options.Authority)
	c.beats.publish()
}

// RESTConfig is for clients of any kind, those of controller-runtime as well. They
// do not use a socket.
func (c *Simulation) RESTConfig() *rest.Config {
	config := c.API().Config()
	config.ContentConfig = rest.ContentConfig{} // not all that is served has a protobuf form
	return config
}

// Client is a client of the cluster's API.
func (c *Simulation) Client() kubernetes.Interface {
	return kubernetes.NewForConfigOrDie(c.API().Config())
}

// DynamicClient is a client for objects of any kind, without their Go types.
func (c *Simulation) DynamicClient() dynamic.Interface {
	return dynamic.NewForConfigOrDie(c.RESTConfig())
}

// SnapshotClient is a client for snapshots and groups of them.
func (c *Simulation) SnapshotClient() snapshots.Interface {
	return snapshots.NewForConfigOrDie(c.RESTConfig())
}

// Live runs the cluster by the real clock, speed times as fast, until ctx is done or an unexpected
// error occurs: one second of the real clock is speed seconds of the cluster.
func (c *Simulation) Live(ctx context.Context, speed float64) error {
	c.run.gate.while(func() { c.World.Kernel.RunLive(ctx.Done(), speed) })
	return c.World.Kernel.Err()
}
