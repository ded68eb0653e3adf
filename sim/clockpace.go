package sim

import (
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
)

// Pace determines how virtual time passes while drivers work on calls.
type Pace = kernel.Pace

const (
	// Instant: the clock stops during calls, so calls take no virtual time.
	Instant = kernel.Instant
	// Measured: a call takes as much virtual time as the driver needs real time. Calls overlap as
	// in the driver, and waits of Kubernetes take no real time. Runs with the same seed differ.
	Measured = kernel.Measured
	// Real: virtual time follows the real clock.
	Real = kernel.Real
)

// Latency is the time that a service behind the driver takes for a call: a mean, and the largest
// deviation as a share of the mean, from 0 to 1.
type Latency = wire.Latency

// ParseLatency reads "2s" or "2s±20%".
func ParseLatency(text string) (Latency, error) { return wire.ParseLatency(text) }
