package snapshot

import (
	"fmt"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

type (
	status      = snapshotv1.VolumeSnapshotStatus
	statusError = snapshotv1.VolumeSnapshotError
)

const deletes = snapshotv1.VolumeSnapshotContentDelete

// copyStatus copies the status of the content into a snapshot. C-SNAP-14
func (c *Controller) copyStatus(p *kernel.Process, s volumeSnapshot, from content) error {
	now, err := c.single.read(p, s)
	if err != nil {
		return err
	}
	group, ok := c.groupWithHandle(groupHandleOf(from))
	if !ok {
		return fmt.Errorf("updateSnapshotStatus: cannot find the group snapshot for VolumeSnapshot [%s], will not update snapshot status", store.KeyOf(s))
	}
	next := now.DeepCopy()
	next.Status = statusAfter(now.Status, from)
	if group != "" && next.Status.VolumeGroupSnapshotName == nil {
		next.Status.VolumeGroupSnapshotName = &group
	}
	if equality.Semantic.DeepEqual(next.Status, now.Status) {
		return nil
	}
	if (now.Status == nil || now.Status.CreationTime == nil) && next.Status.CreationTime != nil {
		c.Event(s, corev1.EventTypeNormal, "SnapshotCreated", "Snapshot %s was successfully created by the CSI driver.", store.KeyOf(s))
		c.succeeded(creation, s)
	}
	if !snapshot.IsReady(now) && snapshot.IsReady(next) {
		c.Event(s, corev1.EventTypeNormal, "SnapshotReady", "Snapshot %s is ready to use.", store.KeyOf(s))
		c.succeeded(creationAndReady, s)
	}
	written, err := component.UpdateStatus(p, c.Component, next)
	if err != nil {
		return failedToUpdate(store.KeyOf(s).String(), err)
	}
	c.snapshots.Put(written)
	return nil
}

func groupHandleOf(c content) *string {
	if c.Status == nil {
		return nil
	}
	return c.Status.VolumeGroupSnapshotHandle
}

// statusAfter returns a snapshot's status after a change of its content. Earlier values stay,
// except for readiness and the error. C-SNAP-14, C-SNAP-16
func statusAfter(old *status, from content) *status {
	next := old.DeepCopy()
	if next == nil {
		next = &status{}
	}
	if next.BoundVolumeSnapshotContentName == nil {
		name := from.Name
		next.BoundVolumeSnapshotContentName = &name
	}
	said := from.Status
	if said == nil {
		said = &snapshotv1.VolumeSnapshotContentStatus{}
	}
	if next.CreationTime == nil && said.CreationTime != nil {
		next.CreationTime = &metav1.Time{Time: time.Unix(0, *said.CreationTime).UTC()}
	}
	ready := said.ReadyToUse != nil && *said.ReadyToUse
	next.ReadyToUse = &ready
	if said.RestoreSize != nil && (next.RestoreSize == nil || next.RestoreSize.IsZero() && *said.RestoreSize > 0) {
		next.RestoreSize = resource.NewQuantity(*said.RestoreSize, resource.BinarySI)
	}
	next.Error = said.Error.DeepCopy()
	return next
}
