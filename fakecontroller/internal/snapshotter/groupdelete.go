package snapshotter

import (
	"context"
	"errors"

	"github.com/container-storage-interface/spec/lib/go/csi"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"

	"github.com/csisim/csisim/internal/world/kernel"
)

// deleteGroup makes the driver delete a group if the content's policy is Delete, and releases the
// content. C-GSNAP-9
func (r *run) deleteGroup(p *kernel.Process, c groupContent) error {
	if c.Spec.DeletionPolicy != snapshotv1.VolumeSnapshotContentDelete || c.Status == nil || c.Status.VolumeGroupSnapshotHandle == nil {
		return r.groupContents.release(p, c)
	}
	call := func(secrets map[string]string) error {
		members := membersOf(c)
		if len(members) == 0 {
			return errors.New("no snapshots found in the group snapshot")
		}
		_, err := csi.NewGroupControllerClient(r.conn(p)).DeleteVolumeGroupSnapshot(context.Background(), &csi.DeleteVolumeGroupSnapshotRequest{
			GroupSnapshotId: *c.Status.VolumeGroupSnapshotHandle, SnapshotIds: members, Secrets: secrets,
		})
		return err
	}
	return r.groupContents.delete(p, c, call, func(c groupContent) {
		c.Status.VolumeGroupSnapshotHandle, c.Status.ReadyToUse, c.Status.CreationTime, c.Status.Error = nil, nil, nil, nil
	})
}

// membersOf returns the handles of the group's snapshots, from the driver's answer or from a
// pre-provisioned content.
func membersOf(c groupContent) (handles []string) {
	for _, s := range c.Status.VolumeSnapshotInfoList {
		handles = append(handles, s.SnapshotHandle)
	}
	if given := c.Spec.Source.GroupSnapshotHandles; len(handles) == 0 && given != nil {
		return given.VolumeSnapshotHandles
	}
	return handles
}
