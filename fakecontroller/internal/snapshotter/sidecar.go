package snapshotter

import (
	"slices"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
)

var _ sidecar.Sidecar = Options{}

// Name returns the name of the program.
func (Options) Name() string { return Caller }

// RunsBeside reports whether csi-snapshotter runs beside a driver: the driver must take snapshots.
func (Options) RunsBeside(d sidecar.Promises) bool { return d.Capabilities["CREATE_DELETE_SNAPSHOT"] }

// Lock returns the name of its Lease. C-LIB-5
func (Options) Lock(driver string) string { return "external-snapshotter-leader-" + driver }

// Start starts the program beside a plugin.
func (o Options) Start(w *component.World, wire *wire.Wire, at sidecar.Target) *sidecar.Program {
	o.Driver, o.Machine, o.Socket, o.Flags = at.Driver, at.Machine, at.Socket, o.Beside(at)
	return Start(w, wire, o)
}

// Mistakes returns the invalid flags.
func (o Options) Mistakes() []sidecar.Mistake {
	return slices.Concat(o.CheckElection(), sidecar.CheckRetries(o.RetryIntervalStart, o.RetryIntervalMax), o.Version.Check(o.Name()))
}
