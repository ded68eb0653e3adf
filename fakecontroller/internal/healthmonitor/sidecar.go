package healthmonitor

import (
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
)

var _ sidecar.Sidecar = Options{}

// Name returns the name of the program.
func (Options) Name() string { return Caller }

// RunsBeside reports whether the sidecar runs beside a driver: the driver must report the condition
// of volumes.
func (Options) RunsBeside(d sidecar.Promises) bool {
	return d.Capabilities["VOLUME_CONDITION"] && (d.Capabilities["LIST_VOLUMES"] || d.Capabilities["GET_VOLUME"])
}

// Lock returns the name of its Lease. C-LIB-5
func (Options) Lock(driver string) string { return "external-health-monitor-leader-" + driver }

// Start starts the program beside a plugin.
func (o Options) Start(w *component.World, wire *wire.Wire, at sidecar.Target) *sidecar.Program {
	o.Driver, o.Machine, o.Socket, o.Flags = at.Driver, at.Machine, at.Socket, o.Beside(at)
	return Start(w, wire, o)
}

// Mistakes returns the invalid flags.
func (o Options) Mistakes() []sidecar.Mistake {
	return o.CheckElection()
}
