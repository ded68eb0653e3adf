package snapshot

import (
	"fmt"
	"slices"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// mayBeDeleted reports whether this controller has released a snapshot that is being deleted.
func mayBeDeleted(s volumeSnapshot) bool {
	return s.DeletionTimestamp != nil &&
		(slices.Contains(s.Finalizers, snapshot.AsSourceFinalizer) || slices.Contains(s.Finalizers, snapshot.BoundFinalizer))
}

// deleteSnapshot releases a snapshot. If its content is also deleted, the content is deleted first.
// C-SNAP-18
func (c *Controller) deleteSnapshot(p *kernel.Process, s volumeSnapshot) error {
	if !mayBeDeleted(s) {
		return nil
	}
	c.begin(deletion, s)
	found := c.boundContent(s)
	if found != nil && c.isBeingRestored(s) {
		c.warn(s, "SnapshotDeletePending", "Snapshot is being used to restore a PVC")
		return fmt.Errorf("snapshot %s is in use (being used to restore a PVC), will retry deletion", store.KeyOf(s))
	}
	if err := c.holdInGroup(s); err != nil {
		return err
	}
	gone := []string{snapshot.AsSourceFinalizer}
	if s.Status != nil && s.Status.VolumeGroupSnapshotName != nil {
		gone = append(gone, snapshot.InGroupFinalizer)
	}
	if found != nil {
		marked, err := c.markBeingDeleted(p, found)
		if err != nil {
			return err
		}
		if marked.Spec.DeletionPolicy == deletes {
			if _, err := component.Delete[content](p, c.Component, store.KeyOf(found)); err != nil && !apierrors.IsNotFound(err) {
				c.warn(s, "SnapshotContentObjectDeleteError", "Failed to delete snapshot content API object")
				return fmt.Errorf("failed to delete VolumeSnapshotContent %s from API server: %q", found.Name, err)
			}
			return c.removeFinalizers(p, s, gone) // the content's end queues the snapshot again
		}
	}
	return c.removeFinalizers(p, s, append(gone, snapshot.BoundFinalizer))
}

// boundContent returns the content if both objects name each other; nil otherwise.
func (c *Controller) boundContent(s volumeSnapshot) content {
	name := snapshot.BoundContent(s)
	if name == "" && s.Spec.Source.PersistentVolumeClaimName != nil {
		name = snapshot.ContentName(s)
	}
	found, ok := c.contents.Get(store.Key{Name: name})
	if !ok || !snapshot.IsBoundTo(found, s) {
		return nil
	}
	return found
}

// isBeingRestored reports whether a pending claim has the snapshot as its source.
func (c *Controller) isBeingRestored(s volumeSnapshot) bool {
	for pvc := range store.List[claim](c.Cache, s.Namespace) {
		from := pvc.Spec.DataSource
		if from != nil && from.Kind == "VolumeSnapshot" && from.Name == s.Name &&
			from.APIGroup != nil && *from.APIGroup == snapshotv1.GroupName && pvc.Status.Phase == corev1.ClaimPending {
			return true
		}
	}
	return false
}

// markBeingDeleted permits csi-snapshotter to delete.
func (c *Controller) markBeingDeleted(p *kernel.Process, found content) (content, error) {
	if metav1.HasAnnotation(found.ObjectMeta, snapshot.BeingDeleted) {
		return found, nil
	}
	marked, err := component.Patch(p, c.Component, store.KeyOf(found), func(now content) {
		metav1.SetMetaDataAnnotation(&now.ObjectMeta, snapshot.BeingDeleted, "yes")
	})
	if err != nil {
		return nil, failedToUpdate(found.Name, err)
	}
	c.contents.Put(marked)
	return marked, nil
}

// removeFinalizers releases the claim first. If it released the snapshot first, the claim could
// stay protected.
func (c *Controller) removeFinalizers(p *kernel.Process, s volumeSnapshot, gone []string) error {
	if err := c.releaseClaim(p, s, true); err != nil {
		c.warn(s, "ErrorPVCFinalizer", "Error check and remove PVC Finalizer for VolumeSnapshot")
		return failedToUpdate(s.Name, err)
	}
	freed := s.DeepCopy()
	freed.Finalizers = volume.WithoutFinalizers(freed.Finalizers, gone...)
	written, err := component.Update(p, c.Component, freed)
	if err != nil {
		return failedToUpdate(s.Name, err)
	}
	c.snapshots.Put(written)
	return nil
}
