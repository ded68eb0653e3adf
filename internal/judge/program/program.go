// Package program judges the programs of drivers outside their calls: by remaining files, by
// secrets and data races in their logs, and by the volumes and snapshots that they list.
package program

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

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

// hasObjects reports whether a driver has a volume or a snapshot that was not deleted.
func (r *Run) hasObjects(driver string) bool {
	objects := map[string]bool{}
	for _, e := range r.Trace.Events() {
		if e.Kind != trace.Call || e.Driver != driver || e.Code != "" {
			continue
		}
		switch made := e.Response.(type) {
		case *csi.CreateVolumeResponse:
			objects["volume "+made.GetVolume().GetVolumeId()] = true
		case *csi.CreateSnapshotResponse:
			objects["snapshot "+made.GetSnapshot().GetSnapshotId()] = true
		}
		switch deleted := e.Request.(type) {
		case *csi.DeleteVolumeRequest:
			delete(objects, "volume "+deleted.GetVolumeId())
		case *csi.DeleteSnapshotRequest:
			delete(objects, "snapshot "+deleted.GetSnapshotId())
		}
	}
	return len(objects) > 0
}

// Program is the program of a driver's plugin.
type Program struct {
	Plugin, Driver, Node string
	// Ran are all instances of the program.
	Ran []*machine.Process
}
