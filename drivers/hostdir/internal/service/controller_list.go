//go:build linux

package service

import (
	"context"
	"strconv"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
)

func (c *controller) ListVolumes(_ context.Context, req *csi.ListVolumesRequest) (*csi.ListVolumesResponse, error) {
	all, err := c.store.Volumes()
	if err != nil {
		return nil, Answer(err)
	}
	listed, next, err := page(all, req.GetStartingToken(), req.GetMaxEntries())
	if err != nil {
		return nil, err
	}
	list := &csi.ListVolumesResponse{NextToken: next}
	for _, v := range listed {
		list.Entries = append(list.Entries, &csi.ListVolumesResponse_Entry{
			Volume: describe(v),
			Status: &csi.ListVolumesResponse_VolumeStatus{PublishedNodeIds: v.AttachedNodes()},
		})
	}
	return list, nil
}

func (c *controller) ControllerGetVolume(_ context.Context, req *csi.ControllerGetVolumeRequest) (*csi.ControllerGetVolumeResponse, error) {
	if err := require("volume_id", req.GetVolumeId()); err != nil {
		return nil, err
	}
	v, err := c.store.Volume(req.GetVolumeId())
	if err != nil {
		return nil, Answer(err)
	}
	status := &csi.ControllerGetVolumeResponse_VolumeStatus{PublishedNodeIds: v.AttachedNodes()}
	return &csi.ControllerGetVolumeResponse{Volume: describe(v), Status: status}, nil
}

func (c *controller) ListSnapshots(_ context.Context, req *csi.ListSnapshotsRequest) (*csi.ListSnapshotsResponse, error) {
	all, err := c.store.Snapshots()
	if err != nil {
		return nil, Answer(err)
	}
	var wanted []backend.Snapshot
	for _, s := range all {
		if (req.GetSnapshotId() == "" || req.GetSnapshotId() == s.ID) &&
			(req.GetSourceVolumeId() == "" || req.GetSourceVolumeId() == s.VolumeID) {
			wanted = append(wanted, s)
		}
	}
	listed, next, err := page(wanted, req.GetStartingToken(), req.GetMaxEntries())
	if err != nil {
		return nil, err
	}
	list := &csi.ListSnapshotsResponse{NextToken: next}
	for _, s := range listed {
		list.Entries = append(list.Entries, &csi.ListSnapshotsResponse_Entry{Snapshot: describeSnapshot(c.store, s)})
	}
	return list, nil
}

// page returns at most limit entries from token on (0 means all). A token is the number of entries
// before it.
func page[T any](all []T, token string, limit int32) (listed []T, next string, err error) {
	if limit < 0 {
		return nil, "", invalid("max_entries is %d", limit)
	}
	start := 0
	if token != "" {
		if start, err = strconv.Atoi(token); err != nil || start < 0 || start > len(all) {
			return nil, "", status.Errorf(codes.Aborted, "starting_token %q is not valid", token)
		}
	}
	rest := all[start:]
	if limit == 0 || int(limit) >= len(rest) {
		return rest, "", nil
	}
	return rest[:limit], strconv.Itoa(start + int(limit)), nil
}
