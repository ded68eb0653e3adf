package program

import (
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/trace"
)

// Archives follows the files of snapshots to their deletion, within the directories that the run
// gives to driver programs. A file belongs to a snapshot if its name contains the snapshot's id or
// name.
type Archives struct {
	Files

	kept     []archive
	reported bool
}

// archive is a file or a directory that a snapshot had when it was deleted.
type archive struct {
	call           *trace.Event
	snapshot, path string
}

// leastToken is the minimum length of ids and names that are too long to occur in other names.
const leastToken = 8

// Began records the files of a snapshot that is about to be deleted.
func (a *Archives) Began(call *trace.Event) {
	request, deletes := call.Request.(*csi.DeleteSnapshotRequest)
	if !deletes || !a.HasProgram(call.Driver) {
		return
	}
	tokens := a.tokens(call, request.GetSnapshotId())
	for _, path := range a.files(tokens) {
		if !slices.ContainsFunc(a.kept, func(other archive) bool { return other.path == path }) {
			a.kept = append(a.kept, archive{call, request.GetSnapshotId(), path})
		}
	}
}

// tokens returns the id and the name of a snapshot, without those that are too short.
func (a *Archives) tokens(call *trace.Event, id string) []string {
	tokens := []string{id}
	for _, e := range a.Trace.Events() {
		made, ok := e.Response.(*csi.CreateSnapshotResponse)
		request, asked := e.Request.(*csi.CreateSnapshotRequest)
		if ok && asked && e.Driver == call.Driver && made.GetSnapshot().GetSnapshotId() == id {
			tokens = append(tokens, request.GetName())
		}
	}
	return slices.DeleteFunc(tokens, func(token string) bool { return len(token) < leastToken })
}

// files returns the files and directories with one of the tokens in their names. It omits
// everything below these directories.
func (a *Archives) files(tokens []string) (found []string) {
	a.each(func(path string, entry fs.DirEntry) error {
		if !slices.ContainsFunc(tokens, func(token string) bool { return strings.Contains(entry.Name(), token) }) {
			return nil
		}
		found = append(found, path)
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return found
}

// Look reports a file of a deleted snapshot that remains although the driver has no volume and no
// snapshot any more.
func (a *Archives) Look() {
	if a.reported || len(a.kept) == 0 || a.Paired() {
		return
	}
	deleted := slices.DeleteFunc(slices.Clone(a.kept), func(of archive) bool { return a.hasObjects(of.call.Driver) })
	var stay []archive
	if removed(func() bool {
		stay = slices.DeleteFunc(slices.Clone(deleted), func(of archive) bool { return !of.stays() })
		return len(stay) == 0
	}) {
		return
	}
	a.reported = true
	first := stay[0]
	a.Report(first.call, contract.LeavesArchive(first.call.Method, first.snapshot, a.Renamed(first.path), len(snapshotsOf(stay)) == len(snapshotsOf(deleted))))
}

// snapshotsOf returns the snapshots of the files.
func snapshotsOf(files []archive) map[string]bool {
	snapshots := map[string]bool{}
	for _, of := range files {
		snapshots[of.snapshot] = true
	}
	return snapshots
}

// stays reports whether a directory, or a file with content, is still there. Empty files may be
// locks.
func (of archive) stays() bool {
	info, err := os.Lstat(of.path)
	return err == nil && (info.IsDir() || info.Size() > 0)
}
