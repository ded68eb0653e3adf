package provisioner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
)

var _ sidecar.Sidecar = Options{}

// Name returns the name of the program.
func (Options) Name() string { return Name }

// RunsBeside returns true for every driver with a controller plugin.
func (Options) RunsBeside(_ sidecar.Promises) bool { return true }

// OnNodes reports whether the sidecar runs beside the node plugins, as with --node-deployment.
// C-PROV-6
func (o Options) OnNodes() bool { return o.NodeDeployment }

// Lock returns the name of its Lease. C-LIB-5
func (Options) Lock(driver string) string { return strings.ReplaceAll(driver, "/", "-") }

// Start starts the program beside a plugin.
func (o Options) Start(w *component.World, wire *wire.Wire, at sidecar.Target) *sidecar.Program {
	o.Driver, o.Node, o.Machine, o.Socket, o.Flags = at.Driver, at.Node, at.Machine, at.Socket, o.Beside(at)
	return Start(w, wire, o)
}

// Mistakes returns the invalid flags.
func (o Options) Mistakes() []sidecar.Mistake {
	found := slices.Concat(o.CheckElection(), sidecar.CheckRetries(o.RetryIntervalStart, o.RetryIntervalMax), o.Version.Check(o.Name()))
	if base, longest := cmp.Or(o.NodeDeploymentBaseDelay, baseDelay), cmp.Or(o.NodeDeploymentMaxDelay, maxDelay); longest < base {
		found = append(found, sidecar.Mistake{Field: "nodeDeploymentMaxDelay", Found: longest.String(), Want: fmt.Sprintf("at least nodeDeploymentBaseDelay, %v", base)})
	}
	return found
}
