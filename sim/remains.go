package sim

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/data"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/world/trace"
)

// remains follows the content of volumes that containers have written to the places where driver
// programs store it, within the directories that the run gives them.
type remains struct {
	kept     map[data.Volume]*trace.Event // the first deletion of each volume that had content before
	reported bool
}

// beforeDeletion records a volume that is about to be deleted.
func (c *Simulation) beforeDeletion(call *trace.Event) {
	request, deletes := call.Request.(*csi.DeleteVolumeRequest)
	if !deletes || !c.hasProgram(call.Driver) {
		return
	}
	v := data.Volume{Driver: call.Driver, Handle: request.GetVolumeId()}
	if c.remains.kept[v] != nil || c.contents()[v.String()] == "" {
		return
	}
	if c.remains.kept == nil {
		c.remains.kept = map[data.Volume]*trace.Event{}
	}
	c.remains.kept[v] = call
}

// mostContents is the largest number of files to examine: a driver with more stores other data
// there.
const mostContents = 2000

// contents returns the files with the content of volumes, by the volume.
func (c *Simulation) contents() map[string]string {
	found, count := map[string]string{}, 0
	for _, below := range []string{"state", "standin"} {
		_ = filepath.WalkDir(filepath.Join(c.run.work.Path(), below), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() { // files that vanish meanwhile are no matter
				return nil
			}
			if count++; count > mostContents {
				return fs.SkipAll
			}
			if volume := contentOf(path, entry); volume != "" {
				found[volume] = path
			}
			return nil
		})
	}
	return found
}

// contentOf returns the volume that the content of a file belongs to, empty if there is none: a
// file of a container, or the image of a device.
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
	n, _ := f.Read(start) // an empty one has nothing
	return data.VolumeIn(start[:n])
}

// remainsPatience is the wall time that a driver may take to remove a volume after it answered that
// it is deleted.
const remainsPatience = 2 * time.Second

// removed reports whether a driver has removed everything, at once or within its time for that.
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

// lookForRemains looks for content of volumes that were deleted.
func (c *Simulation) lookForRemains() {
	if c.remains.reported || len(c.remains.kept) == 0 {
		return
	}
	deleted := c.deletedForGood()
	if len(deleted) == 0 {
		return
	}
	stays := func() (stay []data.Volume, contents map[string]string) {
		contents = c.contents()
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
	c.remains.reported = true
	v := stay[0]
	c.Wire.Report(deleted[v], contract.LeavesData(deleted[v].Method, v.Handle, c.Wire.Renamed(contents[v.String()]), len(stay) == len(deleted)))
}

// deletedForGood returns the volumes that existed and have a DeleteVolume with OK as their last
// call, of drivers without other objects into which their content may have been copied.
func (c *Simulation) deletedForGood() map[data.Volume]*trace.Event {
	deleted, copies := map[data.Volume]*trace.Event{}, map[string]bool{}
	for _, e := range c.World.Trace.Events() {
		if e.Kind != trace.Call {
			continue
		}
		switch r := e.Request.(type) {
		case *csi.DeleteVolumeRequest:
			if v := (data.Volume{Driver: e.Driver, Handle: r.GetVolumeId()}); e.Code == "" && c.remains.kept[v] != nil {
				deleted[v] = e
			}
		case *csi.CreateVolumeRequest:
			delete(deleted, data.Volume{Driver: e.Driver, Handle: ledger.VolumeOf(e)})
			copies[e.Driver] = copies[e.Driver] || r.GetVolumeContentSource() != nil
		case *csi.CreateSnapshotRequest, *csi.CreateVolumeGroupSnapshotRequest:
			copies[e.Driver] = true
		}
	}
	maps.DeleteFunc(deleted, func(v data.Volume, _ *trace.Event) bool { return copies[v.Driver] || c.peer() != nil })
	return deleted
}

// hasProgram reports whether the plugins of a driver are programs of the run's own.
func (c *Simulation) hasProgram(name string) bool {
	return slices.ContainsFunc(c.drivers, func(d *driver) bool { return d.Name == name && d.Program != nil })
}
