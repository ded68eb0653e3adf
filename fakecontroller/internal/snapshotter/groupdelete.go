package snapshotter

import (
	"context"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// deleteGroup has the driver delete a group, if that is the content's policy, and
// lets the content go. C-GSNAP-9
func (r *run) deleteGroup(p *kernel.Process, c groupContent) error {
	if c.Spec.DeletionPolicy == snapshotv1.VolumeSnapshotContentDelete && c.Status != nil && c.Status.VolumeGroupSnapshotHandle != nil {
		cleared, err := r.deleteGroupSnapshot(p, c)
		if err != nil {
			return err
		}
		c = cleared
	}
	return release(p, r, c, snapshot.GroupContentFinalizer, r.groupContents.Put)
}

// deleteGroupSnapshot says in the content that the group is no more.
func (r *run) deleteGroupSnapshot(p *kernel.Process, c groupContent) (groupContent, error) {
	failed := func(why string) { r.event(c, corev1.EventTypeWarning, "GroupSnapshotDeleteError", "%s", why) }
	secrets, err := r.groupSecrets(p, c)
	if err != nil {
		failed("Failed to get snapshot credentials")
		return nil, fmt.Errorf("failed to get input parameters to delete group snapshot for group snapshot content %s: %q", c.Name, err)
	}
	members := membersOf(c)
	if len(members) == 0 {
		failed("Failed to delete group snapshot")
		return nil, fmt.Errorf("cannot delete group snapshot content %s. No snapshots found in the group snapshot", c.Name)
	}
	_, err = csi.NewGroupControllerClient(r.conn(p)).DeleteVolumeGroupSnapshot(context.Background(), &csi.DeleteVolumeGroupSnapshotRequest{
		GroupSnapshotId: *c.Status.VolumeGroupSnapshotHandle, SnapshotIds: members, Secrets: secrets,
	})
	if err != nil {
		failed("Failed to delete group snapshot")
		return nil, fmt.Errorf("failed to delete group snapshot %q: %w", c.Name, err)
	}
	cleared, err := component.PatchStatus(p, r.Component, store.KeyOf(c), func(c groupContent) {
		c.Status.VolumeGroupSnapshotHandle, c.Status.ReadyToUse, c.Status.CreationTime, c.Status.Error = nil, nil, nil, nil
	})
	if err != nil {
		failed("Failed to clear content status")
		return nil, failedToUpdate(c.Name, err)
	}
	return cleared, nil
}

// membersOf are the handles of the group's snapshots: those that the driver returned, or
// those that an administrator wrote.
func membersOf(c groupContent) (handles []string) {
	for _, s := range c.Status.VolumeSnapshotInfoList {
		handles = append(handles, s.SnapshotHandle)
	}
	if given := c.Spec.Source.GroupSnapshotHandles; len(handles) == 0 && given != nil {
		return given.VolumeSnapshotHandles
	}
	return handles
}
