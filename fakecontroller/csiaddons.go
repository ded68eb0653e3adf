package fakecontroller

import (
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/manager"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	addons "github.com/csisim/csisim/fakecontroller/internal/csiaddons/sidecar"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
)

// The names of the programs of CSI-Addons.
const (
	AddonsSidecar = addons.Caller
	AddonsManager = manager.Name
)

type (
	// AddonsManagerOptions are the flags of the controller manager of CSI-Addons.
	AddonsManagerOptions = manager.Options
	// AddonsVolumeCondition are the flags of a sidecar's reporter of volume conditions.
	AddonsVolumeCondition = addons.VolumeCondition
	// AddonsOutside is the network between simulated and external programs of CSI-Addons.
	AddonsOutside = relay.Outside
	// AddonsConnection is a connection to a program outside of the simulation.
	AddonsConnection = relay.Connection
	// AddonsSidecarOptions are the flags of a sidecar of CSI-Addons, and its place.
	AddonsSidecarOptions = addons.Options
)

// Addons is CSI-Addons in one cluster, with the connections between its programs. The zero value is
// ready.
type Addons struct {
	network   relay.Network
	elections map[string]*sidecar.Election // by driver
}

// Reach connects simulated programs with external ones. If managerToo is set, the controller
// manager is also external.
func (a *Addons) Reach(outside AddonsOutside, managerToo bool) {
	a.network.Outside, a.network.ManagerOutside = outside, managerToo
}

// Close ends the connections to programs outside.
func (a *Addons) Close() { a.network.Close() }

// Manager returns the controller manager.
func (a *Addons) Manager(o AddonsManagerOptions) Controller {
	return Controller{Name: AddonsManager, Start: func(in Cluster) Program {
		if o.LeaderElect {
			return manager.StartElecting(in.World, &a.network, o)
		}
		return manager.Start(in.World, &a.network, o)
	}}
}

// AddonsProgram is a running sidecar.
type AddonsProgram interface {
	Program
	// Running reports whether it runs or will be started again.
	Running() bool
	// DriverGone reports that the driver's process has ended.
	DriverGone()
}

// Sidecar starts a sidecar. The sidecars of one driver elect a leader.
func (a *Addons) Sidecar(w *component.World, over *wire.Wire, o AddonsSidecarOptions) AddonsProgram {
	if a.elections[o.Driver] == nil {
		if a.elections == nil {
			a.elections = map[string]*sidecar.Election{}
		}
		a.elections[o.Driver] = &sidecar.Election{}
	}
	o.Election = a.elections[o.Driver]
	return addons.Start(w, over, &a.network, o)
}
