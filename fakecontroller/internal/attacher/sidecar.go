package attacher

import (
	"fmt"
	"math"
	"slices"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
)

var _ sidecar.Sidecar = Options{}

// Name returns the name of the program.
func (Options) Name() string { return Caller }

// RunsBeside: csi-attacher runs beside every driver with a controller plugin.
func (Options) RunsBeside(_ sidecar.Promises) bool { return true }

// Lock returns the name of its Lease. C-LIB-5
func (Options) Lock(driver string) string { return "external-attacher-leader-" + driver }

// Start starts the program beside a plugin.
func (o Options) Start(w *component.World, wire *wire.Wire, at sidecar.Target) *sidecar.Program {
	o.Driver, o.Machine, o.Socket, o.Flags = at.Driver, at.Machine, at.Socket, o.Beside(at)
	return Start(w, wire, o)
}

// Mistakes returns the invalid flags.
func (o Options) Mistakes() []sidecar.Mistake {
	found := slices.Concat(o.CheckElection(), sidecar.CheckRetries(o.RetryIntervalStart, o.RetryIntervalMax), o.Version.Check(o.Name()))
	if o.MaxEntries > math.MaxInt32 {
		found = append(found, sidecar.Mistake{Field: "maxEntries", Found: fmt.Sprintf("number %d", o.MaxEntries), Want: fmt.Sprintf("a number up to %d", math.MaxInt32)})
	}
	return found
}
