// Package program judges the programs of drivers outside their calls: by remaining files, by
// secrets and data races in their logs, and by the volumes and snapshots that they list.
package program

import (
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Run is a run with programs of drivers.
type Run struct {
	Trace *trace.Recorder
	// Report reports a finding about a call.
	Report func(*trace.Event, verdict.Verdict)
	// Renamed replaces the paths of the run in a text.
	Renamed func(string) string
	// Paired reports whether the cluster is one of two. The drivers of both may share volumes.
	Paired func() bool
}

// Program is the program of a driver's plugin.
type Program struct {
	Plugin, Driver, Node string
	// Ran are all its instances.
	Ran []*machine.Process
}
