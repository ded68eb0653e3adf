package program

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/data"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/world/trace"
)

// Remains follows the content of volumes that containers have written to the places where driver
// programs store it, within the directories that the run gives them.
type Remains struct {
	Files

	// The first deletion of each volume that had content before.
	kept     map[data.Volume]*trace.Event
	reported bool
}

// Began records a volume that is about to be deleted.
func (r *Remains) Began(call *trace.Event) {
	request, deletes := call.Request.(*csi.DeleteVolumeRequest)
	if !deletes || !r.HasProgram(call.Driver) {
		return
	}
	v := data.Volume{Driver: call.Driver, Handle: request.GetVolumeId()}
	if r.kept[v] != nil || r.contents()[v.String()] == "" {
		return
	}
	if r.kept == nil {
		r.kept = map[data.Volume]*trace.Event{}
	}
	r.kept[v] = call
}

// contents returns the files with the content of volumes, by the volume.
func (r *Remains) contents() map[string]string {
	found := map[string]string{}
	r.each(func(path string, entry fs.DirEntry) error {
		if !entry.Type().IsRegular() {
			return nil
		}
		if volume := contentOf(path, entry); volume != "" {
			found[volume] = path
		}
		return nil
	})
	return found
}

// contentOf returns the volume to which a file's content belongs; empty if there is none. The file
// is one that a container wrote, or the image of a device.
func contentOf(path string, entry fs.DirEntry) string {
	if info, err := entry.Info(); err != nil || entry.Name() != data.FileName && info.Size() < data.BlockBytes {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	start := make([]byte, data.BlockBytes)
	n, _ := f.Read(start) // an empty one has no content
	return data.VolumeIn(start[:n])
}

// remainsPatience is the wall time in which a driver may remove a volume after it answered that it
// is deleted.
const remainsPatience = 2 * time.Second

// removed reports whether a driver has removed everything, at once or within remainsPatience.
func removed(all func() bool) bool {
	end := time.Now().Add(remainsPatience)
	for !all() {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(remainsPatience / 100)
	}
	return true
}

// Look looks for content of volumes that were deleted.
func (r *Remains) Look() {
	if r.reported || len(r.kept) == 0 {
		return
	}
	deleted := r.deletedForGood()
	if len(deleted) == 0 {
		return
	}
	stays := func() (stay []data.Volume, contents map[string]string) {
		contents = r.contents()
		for v := range deleted { // any order: it is sorted
			if contents[v.String()] != "" {
				stay = append(stay, v)
			}
		}
		slices.SortFunc(stay, func(a, b data.Volume) int { return int(deleted[a].Seq) - int(deleted[b].Seq) })
		return stay, contents
	}
	var stay []data.Volume
	var contents map[string]string
	if removed(func() bool { stay, contents = stays(); return len(stay) == 0 }) {
		return
	}
	r.reported = true
	v := stay[0]
	r.Report(deleted[v], contract.LeavesData(deleted[v].Method, v.Handle, r.Renamed(contents[v.String()]), len(stay) == len(deleted)))
}

// deletedForGood returns the volumes that their last call deleted successfully. Their drivers have
// no other objects into which the content may have been copied.
func (r *Remains) deletedForGood() map[data.Volume]*trace.Event {
	deleted, copies := map[data.Volume]*trace.Event{}, map[string]bool{}
	for _, e := range r.Trace.Events() {
		if e.Kind != trace.Call {
			continue
		}
		switch request := e.Request.(type) {
		case *csi.DeleteVolumeRequest:
			if v := (data.Volume{Driver: e.Driver, Handle: request.GetVolumeId()}); e.Code == "" && r.kept[v] != nil {
				deleted[v] = e
			}
		case *csi.CreateVolumeRequest:
			delete(deleted, data.Volume{Driver: e.Driver, Handle: ledger.VolumeOf(e)})
			copies[e.Driver] = copies[e.Driver] || request.GetVolumeContentSource() != nil
		case *csi.CreateSnapshotRequest, *csi.CreateVolumeGroupSnapshotRequest:
			copies[e.Driver] = true
		}
	}
	maps.DeleteFunc(deleted, func(v data.Volume, _ *trace.Event) bool { return copies[v.Driver] || r.Paired() })
	return deleted
}
