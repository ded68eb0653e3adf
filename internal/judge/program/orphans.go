package program

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Orphans are the files that drivers made in calls that failed.
type Orphans struct {
	Run

	made     []orphan
	reported bool
}

// orphan is a file or a directory that a failed call made.
type orphan struct {
	machine machine.Machine
	call    *trace.Event
	path    string
}

// leastOrphan is the size in bytes from which a file counts. Smaller files are records and
// temporary files, some of which drivers leave on purpose.
const leastOrphan = 1 << 20

// Failed records the files that a failed call created for a volume or a snapshot. The driver must
// have created a volume before, so that its own files exist.
func (o *Orphans) Failed(m machine.Machine, call *trace.Event, seen []machine.SystemCall) {
	switch call.Request.(type) {
	case *csi.CreateVolumeRequest, *csi.CreateSnapshotRequest:
	default:
		return
	}
	if !o.hasMade(call) {
		return
	}
	for _, made := range seen {
		below := func(other orphan) bool { return other.machine == m && strings.HasPrefix(made.Path, other.path+"/") }
		if made.Makes && !made.Failed && !made.Held && !slices.ContainsFunc(o.made, below) {
			o.made = append(o.made, orphan{m, call, made.Path})
		}
	}
}

// hasMade reports whether the driver has answered such a call with OK before.
func (o *Orphans) hasMade(failed *trace.Event) bool {
	return slices.ContainsFunc(o.Trace.Events(), func(e *trace.Event) bool {
		return e.Kind == trace.Call && e.Method == failed.Method && e.Driver == failed.Driver && e.Code == "" && e.Response != nil
	})
}

// Look reports files of failed calls that still exist although the driver has no volume and no
// snapshot any more.
func (o *Orphans) Look() {
	if o.reported || len(o.made) == 0 || o.Paired() {
		return
	}
	stays := func() []orphan {
		return slices.DeleteFunc(slices.Clone(o.made), func(of orphan) bool { return !of.stays() || o.hasObjects(of.call.Driver) })
	}
	var stay []orphan
	if removed(func() bool { stay = stays(); return len(stay) == 0 }) {
		return
	}
	o.reported = true
	first := stay[0]
	o.Report(first.call, contract.LeavesOrphan(first.call.Method, o.Renamed(first.path)))
}

// stays reports whether a directory or a large file is still there.
func (o orphan) stays() bool {
	info, err := o.machine.Lstat(o.path)
	return err == nil && (info.IsDir() || info.Mode().IsRegular() && info.Size() >= leastOrphan || info.Mode()&fs.ModeDevice != 0)
}
