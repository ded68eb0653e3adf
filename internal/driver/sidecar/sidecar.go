package sidecar

import (
	"fmt"
	"time"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/machine"
)

// Sidecar describes a program that runs beside a driver's controller plugin. The flags of each such
// program implement it.
type Sidecar interface {
	// Name returns the program's name in records and faults.
	Name() string
	// RunsBeside reports whether the program runs beside a driver with these properties.
	RunsBeside(Promises) bool
	// Lock returns the name of the program's Lease for a driver, before it is sanitized. C-LIB-5
	Lock(driver string) string
	// Start starts the program.
	Start(*component.World, *wire.Wire, Target) *Program
	// Mistakes lists the flags with impossible values.
	Mistakes() []Mistake
}

// NodeSidecar is a Sidecar that can run beside the plugins of nodes instead.
type NodeSidecar interface {
	Sidecar
	// OnNodes reports whether it runs beside the plugins of nodes.
	OnNodes() bool
}

// Promises are the promised capabilities of a driver.
type Promises struct {
	// Capabilities are the capabilities of its controller plugin, by their names in the CSI spec.
	Capabilities map[string]bool
	// ExpandsOnNodes means that its controller plugin promises expansion only by the nodes.
	ExpandsOnNodes bool
}

// Target is the plugin beside which a sidecar runs.
type Target struct {
	// Driver is the driver's name.
	Driver string
	// Node is the name of the plugin's node; empty for a controller plugin.
	Node string
	// Machine and Socket are the address of the plugin.
	Machine machine.Machine
	Socket  string
	// Replica, Pod and Election are for a controller plugin with several replicas; see Flags.
	Replica  int
	Pod      string
	Election *Election
}

// Mistake is a flag with an impossible value.
type Mistake struct{ Field, Found, Want string }

// CheckRetries checks the pauses between retries.
func CheckRetries(first, longest time.Duration) []Mistake {
	if longest <= 0 || longest >= first {
		return nil
	}
	return []Mistake{{"retryIntervalMax", longest.String(), fmt.Sprintf("at least retryIntervalStart, %v", first)}}
}
