package manager

import (
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/sidecar"
	"github.com/csisim/csisim/internal/world/addons/capability"
	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// pool holds the connections to sidecars, in the order of their creation. The real pool is a map:
// if several connections match, the choice is random. A-POOL-1, A-POOL-5
type pool []*connection

// connection is a connection to a sidecar. It is kept even if the sidecar has exited. A-POOL-3
type connection struct {
	key, endpoint   string
	driver, node    string
	namespace, name string // of the CSIAddonsNode
	capabilities    []*identity.Capability
	manager         *Manager
}

// capabilitiesTimeout bounds the only request at the start of a connection. A-POOL-2
const capabilitiesTimeout = time.Minute

// noTimeout is the timeout of the one call that has no timeout. A-NODE-10
const noTimeout = 1000 * time.Hour

// connect returns the connection with a key. It replaces a connection to another endpoint. A-POOL-4
func (m *Manager) connect(p *kernel.Process, c connection) (*connection, error) {
	at := slices.IndexFunc(m.pool, func(old *connection) bool { return old.key == c.key })
	if at >= 0 && m.pool[at].endpoint == c.endpoint {
		return m.pool[at], nil
	}
	c.manager = m
	err := c.call(p, "GetCapabilities", capabilitiesTimeout, func(s relay.Asked, call relay.Call) (err error) {
		c.capabilities, err = s.GetCapabilities(call)
		return err
	})
	if err != nil {
		return nil, err
	}
	m.disconnect(c.key)
	m.pool = append(m.pool, &c)
	return &c, nil
}

func (m *Manager) disconnect(key string) {
	m.pool = slices.DeleteFunc(m.pool, func(c *connection) bool { return c.key == key })
}

// call makes a call to the sidecar.
func (c *connection) call(p *kernel.Process, what string, timeout time.Duration, do func(relay.Asked, relay.Call) error) error {
	return c.manager.network.Call(p, c.endpoint, what, c.manager.opts.secured(), timeout, do)
}

// can reports whether the driver has a capability, given by its name in the status of the
// CSIAddonsNode.
func (c *connection) can(name string) bool {
	return slices.ContainsFunc(c.capabilities, func(has *identity.Capability) bool { return capability.Name(has) == name })
}

// onNode returns the connection to a driver's sidecar on a node with the capability; nil if there
// is none. A-POOL-5
func (m *Manager) onNode(driver, node, capability string) *connection {
	for _, c := range m.pool {
		if c.driver == driver && c.node == node && c.can(capability) {
			return c
		}
	}
	return nil
}

// leader returns the connection to the sidecar that holds the driver's lease. A-POOL-6
func (m *Manager) leader(driver string) (*connection, error) {
	at := slices.IndexFunc(m.pool, func(c *connection) bool { return c.driver == driver })
	if at < 0 {
		return nil, fmt.Errorf("failed to find the namespace where driver %q is running", driver)
	}
	key := store.Key{Namespace: m.pool[at].namespace, Name: sidecar.LeaseName(driver)}
	lease, ok := component.Cached[*coordinationv1.Lease](m.Component, key)
	switch {
	case !ok:
		return nil, fmt.Errorf("no leader found for driver %q: %w", driver, kinds.NotCached(coordinationv1.SchemeGroupVersion.WithKind("Lease"), key))
	case lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "":
		return nil, fmt.Errorf("lease %q for driver %q does not have a leader", key.Name, driver)
	}
	holder := key.Namespace + "/" + *lease.Spec.HolderIdentity
	for _, c := range m.pool {
		if c.key == holder {
			return c, nil
		}
	}
	return nil, fmt.Errorf("no connection with key %q found for driver %q", holder, driver)
}
