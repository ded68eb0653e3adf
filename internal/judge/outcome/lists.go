package outcome

import (
	"context"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// mostFiltered limits the tested filters of a list, and the volumes that are requested by id.
const mostFiltered = 4

// CheckLists requests the driver's lists in each supported way after something was created,
// attached or deleted, and compares the answers. It ignores objects that appear or disappear
// meanwhile, and failures.
func (j *Judge) CheckLists(c Call) []verdict.Verdict {
	caps := j.CapsOf(c.Driver()).Controller
	switch c.Method() {
	case "Controller/CreateVolume":
		found := checkCapacity(c, caps)
		if caps.Has("LIST_VOLUMES") {
			found = append(found, checkVolumes(c, caps)...)
		}
		return found
	case "Controller/ControllerPublishVolume":
		if caps.Has("LIST_VOLUMES") {
			return checkVolumes(c, caps)
		}
	case "Controller/CreateSnapshot":
		if caps.Has("LIST_SNAPSHOTS") {
			return checkSnapshots(c)
		}
	case "Controller/DeleteSnapshot":
		if caps.Has("LIST_SNAPSHOTS") {
			return checkDeletedSnapshot(c)
		}
	}
	return nil
}

// pageOfSome returns a page size for which a list has two or more pages.
func pageOfSome(entries int) int { return max(1, entries/2) }

func checkVolumes(c Call, caps contract.Set) (found []verdict.Verdict) {
	const method = "Controller/ListVolumes"
	before, ok := volumes(c, 0)
	size := pageOfSome(len(before))
	paged, refused := volumes(c, size)
	var got *csi.ControllerGetVolumeResponse
	if caps.Has("GET_VOLUME") && caps.Has("LIST_VOLUMES_PUBLISHED_NODES") && contract.VolumeOf(c.Request()) != "" {
		got, _ = c.Client().ControllerGetVolume(context.Background(), &csi.ControllerGetVolumeRequest{VolumeId: contract.VolumeOf(c.Request())})
	}
	after, still := volumes(c, 0)
	if ok != nil || still != nil {
		return nil
	}
	found = checkPages(method, idsOf(before), idsOf(paged), idsOf(after), size, refused)
	if got != nil {
		id := contract.VolumeOf(c.Request())
		found = append(found, contract.CheckNodes("Controller/ControllerGetVolume", id, nodesOf(before, id), got.GetStatus().GetPublishedNodeIds(), nodesOf(after, id))...)
	}
	return found
}

// checkCapacity looks up a new volume in the ways that the driver supports, and compares its
// capacity to the driver's answer.
func checkCapacity(c Call, caps contract.Set) (found []verdict.Verdict) {
	answer, _ := c.Answer().(*csi.CreateVolumeResponse)
	made := answer.GetVolume()
	if caps.Has("LIST_VOLUMES") {
		all, _ := volumes(c, 0) // none after an error
		for _, e := range all {
			if e.GetVolume().GetVolumeId() == made.GetVolumeId() {
				found = append(found, contract.CheckCapacity("Controller/ListVolumes", &csi.ListVolumesResponse{}, "entries.volume.capacity_bytes", e.GetVolume(), made)...)
			}
		}
	}
	if caps.Has("GET_VOLUME") {
		got, _ := c.Client().ControllerGetVolume(context.Background(), &csi.ControllerGetVolumeRequest{VolumeId: made.GetVolumeId()})
		found = append(found, contract.CheckCapacity("Controller/ControllerGetVolume", &csi.ControllerGetVolumeResponse{}, "volume.capacity_bytes", got.GetVolume(), made)...)
	}
	return found
}

func checkSnapshots(c Call) (found []verdict.Verdict) {
	const method = "Controller/ListSnapshots"
	before, ok := snapshots(c, &csi.ListSnapshotsRequest{})
	size := pageOfSome(len(before))
	paged, refused := snapshots(c, &csi.ListSnapshotsRequest{MaxEntries: int32(size)})
	var filters []filtered
	for _, s := range before[:min(len(before), mostFiltered)] {
		filters = append(filters, withFilter(c, &csi.ListSnapshotsRequest{SnapshotId: s.GetSnapshotId()}), withFilter(c, &csi.ListSnapshotsRequest{SourceVolumeId: s.GetSourceVolumeId()}))
	}
	after, still := snapshots(c, &csi.ListSnapshotsRequest{})
	if ok != nil || still != nil {
		return nil
	}
	found = checkPages(method, idsOf(before), idsOf(paged), idsOf(after), size, refused)
	for _, f := range filters {
		if f.err == nil {
			found = append(found, contract.CheckFilter(method, f.name, idsOf(f.of(before)), idsOf(f.got), idsOf(f.of(after)))...)
		}
	}
	return found
}

// checkDeletedSnapshot requests a deleted snapshot by its id, as csi-snapshotter does for a
// VolumeSnapshotContent that names a snapshot. C-SNAP-37
func checkDeletedSnapshot(c Call) []verdict.Verdict {
	deleted, _ := c.Request().(*csi.DeleteSnapshotRequest)
	before, ok := snapshots(c, &csi.ListSnapshotsRequest{})
	got, refused := snapshots(c, &csi.ListSnapshotsRequest{SnapshotId: deleted.GetSnapshotId()})
	after, still := snapshots(c, &csi.ListSnapshotsRequest{})
	if ok != nil || still != nil {
		return nil
	}
	return contract.CheckDeletedSnapshot(deleted.GetSnapshotId(), idsOf(before), idsOf(got), idsOf(after), refused)
}

// filtered is a list of snapshots that was requested with a filter.
type filtered struct {
	request *csi.ListSnapshotsRequest
	name    string // of the filter
	got     []*csi.Snapshot
	err     error
}

func withFilter(c Call, request *csi.ListSnapshotsRequest) filtered {
	f := filtered{request: request, name: "its snapshot_id"}
	if request.GetSourceVolumeId() != "" {
		f.name = "its source_volume_id"
	}
	f.got, f.err = snapshots(c, request)
	return f
}

// of returns the snapshots that match the filter.
func (f filtered) of(all []*csi.Snapshot) []*csi.Snapshot {
	return slices.DeleteFunc(slices.Clone(all), func(s *csi.Snapshot) bool {
		return f.request.GetSnapshotId() != "" && s.GetSnapshotId() != f.request.GetSnapshotId() ||
			f.request.GetSourceVolumeId() != "" && s.GetSourceVolumeId() != f.request.GetSourceVolumeId()
	})
}

// checkPages checks a list in pages. The driver must refuse neither pages nor its own token.
func checkPages(method string, before, paged, after []string, size int, refused error) []verdict.Verdict {
	switch status.Code(refused) {
	case codes.OK:
		return contract.CheckPages(method, before, paged, after, size)
	case codes.InvalidArgument, codes.Aborted, codes.OutOfRange, codes.Unimplemented:
		return []verdict.Verdict{contract.RefusesPage(method, refused)}
	}
	return nil
}

// volumes returns the entries of ListVolumes in pages of a size; 0 means all at once.
func volumes(c Call, size int) (all []*csi.ListVolumesResponse_Entry, err error) {
	client := c.Client()
	for token := ""; ; {
		page, err := client.ListVolumes(context.Background(), &csi.ListVolumesRequest{MaxEntries: int32(size), StartingToken: token})
		if err != nil {
			return nil, err
		}
		all = append(all, page.GetEntries()...)
		if token = page.GetNextToken(); token == "" {
			return all, nil
		}
	}
}

// snapshots returns the snapshots that ListSnapshots answers to a request, on all pages.
func snapshots(c Call, request *csi.ListSnapshotsRequest) (all []*csi.Snapshot, err error) {
	client := c.Client()
	for token := ""; ; {
		page, err := client.ListSnapshots(context.Background(), &csi.ListSnapshotsRequest{
			MaxEntries: request.GetMaxEntries(), SnapshotId: request.GetSnapshotId(), SourceVolumeId: request.GetSourceVolumeId(), StartingToken: token,
		})
		if err != nil {
			return nil, err
		}
		for _, entry := range page.GetEntries() {
			all = append(all, entry.GetSnapshot())
		}
		if token = page.GetNextToken(); token == "" {
			return all, nil
		}
	}
}

// idsOf returns the ids of entries of a list.
func idsOf[E *csi.Snapshot | *csi.ListVolumesResponse_Entry](entries []E) (ids []string) {
	for _, e := range entries {
		switch e := any(e).(type) {
		case *csi.Snapshot:
			ids = append(ids, e.GetSnapshotId())
		case *csi.ListVolumesResponse_Entry:
			ids = append(ids, e.GetVolume().GetVolumeId())
		}
	}
	return ids
}

// nodesOf returns the nodes of a volume in a list.
func nodesOf(entries []*csi.ListVolumesResponse_Entry, id string) []string {
	i := slices.IndexFunc(entries, func(e *csi.ListVolumesResponse_Entry) bool { return e.GetVolume().GetVolumeId() == id })
	if i < 0 {
		return nil
	}
	return entries[i].GetStatus().GetPublishedNodeIds()
}
