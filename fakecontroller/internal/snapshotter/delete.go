package snapshotter

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/seeded"
)

// delete makes the driver delete a snapshot if the content's policy is Delete, and releases the
// content. C-SNAP-33
func (r *run) delete(p *kernel.Process, c content) error {
	// C-GSNAP-9: it is deleted with its group.
	inGroup := c.Status != nil && c.Status.VolumeGroupSnapshotHandle != nil && r.opts.Version.Has(sidecar.MembersGoWithGroup)
	if c.Spec.DeletionPolicy != snapshotv1.VolumeSnapshotContentDelete || c.Status == nil || c.Status.SnapshotHandle == nil || inGroup {
		return r.contents.release(p, c)
	}
	call := func(secrets map[string]string) error {
		_, err := csi.NewControllerClient(r.conn(p)).DeleteSnapshot(context.Background(), &csi.DeleteSnapshotRequest{
			SnapshotId: *c.Status.SnapshotHandle, Secrets: secrets,
		})
		if seeded.IsMade(seeded.SnapshotDeletedAtError) {
			return nil
		}
		return err
	}
	return r.contents.delete(p, c, call, func(c content) {
		c.Status.SnapshotHandle, c.Status.ReadyToUse, c.Status.CreationTime, c.Status.RestoreSize = nil, nil, nil, nil
	})
}
