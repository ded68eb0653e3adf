package snapshotter

import (
	"context"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/seeded"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// delete has the driver delete a snapshot, if that is the content's policy, and
// lets the content go. C-SNAP-33
func (r *run) delete(p *kernel.Process, c content) error {
	inGroup := c.Status != nil && c.Status.VolumeGroupSnapshotHandle != nil // C-GSNAP-9: it goes with its group
	if c.Spec.DeletionPolicy == snapshotv1.VolumeSnapshotContentDelete && c.Status != nil && c.Status.SnapshotHandle != nil && !inGroup {
		cleared, err := r.deleteSnapshot(p, c)
		if err != nil {
			return err
		}
		c = cleared
	}
	return release(p, r, c, snapshot.ContentFinalizer, r.contents.Put)
}

// deleteSnapshot says in the content that the snapshot is no more.
func (r *run) deleteSnapshot(p *kernel.Process, c content) (content, error) {
	failed := func(why string) { r.event(c, corev1.EventTypeWarning, "SnapshotDeleteError", "%s", why) }
	secrets, err := r.secrets(p, c)
	if err != nil {
		failed("Failed to get snapshot credentials")
		return nil, fmt.Errorf("failed to get input parameters to delete snapshot for content %s: %w", c.Name, err)
	}
	_, err = csi.NewControllerClient(r.conn(p)).DeleteSnapshot(context.Background(), &csi.DeleteSnapshotRequest{
		SnapshotId: *c.Status.SnapshotHandle, Secrets: secrets,
	})
	if err != nil && !seeded.IsMade(seeded.SnapshotDeletedAtError) {
		failed("Failed to delete snapshot")
		return nil, fmt.Errorf("failed to delete snapshot %q: %w", c.Name, err)
	}
	cleared, err := component.PatchStatus(p, r.Component, store.KeyOf(c), func(c content) {
		c.Status.SnapshotHandle, c.Status.ReadyToUse, c.Status.CreationTime, c.Status.RestoreSize = nil, nil, nil, nil
	})
	if err != nil {
		failed("Failed to clear content status")
		return nil, failedToUpdate(c.Name, err)
	}
	return cleared, nil
}
