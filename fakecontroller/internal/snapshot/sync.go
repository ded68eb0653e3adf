package snapshot

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// syncSnapshot: C-SNAP-12
func (c *Controller) syncSnapshot(p *kernel.Process, s volumeSnapshot) error {
	s, err := c.settleClass(p, s)
	if err != nil && !(s.DeletionTimestamp != nil && apierrors.IsNotFound(err)) {
		return err
	}
	if err := c.releaseClaim(p, s, false); err != nil {
		c.warn(s, "ErrorPVCFinalizer", "Error check and remove PVC Finalizer for VolumeSnapshot")
	}
	if s.DeletionTimestamp != nil {
		return c.deleteSnapshot(p, s)
	}
	if fromClaim, given := s.Spec.Source.PersistentVolumeClaimName != nil, s.Spec.Source.VolumeSnapshotContentName != nil; fromClaim == given {
		return c.single.refuse(p, s, "SnapshotValidationError", "Exactly one of PersistentVolumeClaimName and VolumeSnapshotContentName should be specified")
	}
	if err := c.addFinalizers(p, s); err != nil {
		c.warn(s, "SnapshotFinalizerError", "Failed to check and update snapshot: %v", err)
		return err
	}
	if !snapshot.IsReady(s) || snapshot.BoundContent(s) == "" {
		return c.syncUnready(p, s)
	}
	if holds, err := c.single.verify(p, s); !holds {
		return err
	}
	return c.adopt(p, s)
}

// addFinalizers: C-SNAP-19
func (c *Controller) addFinalizers(p *kernel.Process, s volumeSnapshot) error {
	found, exists, err := c.single.contentFor(p, s)
	if err != nil {
		return err
	}
	var missing []string
	if !slices.Contains(s.Finalizers, snapshot.AsSourceFinalizer) {
		missing = append(missing, snapshot.AsSourceFinalizer)
	}
	if exists && found.Spec.DeletionPolicy == deletes && snapshot.BoundContent(s) != "" && !slices.Contains(s.Finalizers, snapshot.BoundFinalizer) {
		missing = append(missing, snapshot.BoundFinalizer)
	}
	if len(missing) == 0 {
		return nil
	}
	var changed volumeSnapshot
	if len(s.Finalizers) == 0 {
		own := s.DeepCopy()
		own.Finalizers = missing
		changed, err = component.Update(p, c.Component, own)
	} else {
		changed, err = component.Patch(p, c.Component, store.KeyOf(s), func(now volumeSnapshot) {
			now.Finalizers = append(now.Finalizers, missing...)
		})
	}
	if err != nil {
		return failedToUpdate(store.KeyOf(s).String(), err)
	}
	c.snapshots.Put(changed)
	return nil
}

// failedToUpdate is the error of a write that failed.
func failedToUpdate(name string, err error) error {
	return fmt.Errorf("snapshot controller failed to update %s on API server: %w", name, err)
}

// syncUnready processes a snapshot that is not ready. C-SNAP-13 to C-SNAP-15
func (c *Controller) syncUnready(p *kernel.Process, s volumeSnapshot) error {
	if s.Status == nil || s.Status.CreationTime == nil {
		c.begin(creation, s)
	}
	c.begin(creationAndReady, s)
	found, exists, err := c.single.contentFor(p, s)
	if err != nil {
		return err
	}
	switch {
	case s.Spec.Source.VolumeSnapshotContentName != nil:
		return c.single.given(p, s, found, exists)
	case snapshot.GroupOf(s) != "":
		return c.syncUnreadyMember(p, s)
	case exists && found.Spec.Source.SnapshotHandle != nil:
		c.single.fail(p, s, true, "SnapshotHandleSet", fmt.Sprintf("Snapshot handle should not be set in content %s for dynamic provisioning", store.KeyOf(s)))
		return fmt.Errorf("snapshotHandle should not be set in the content for dynamic provisioning for snapshot %s", store.KeyOf(s))
	case exists:
		return c.single.bind(p, s, found)
	}
	made, err := c.createContent(p, s)
	if err != nil {
		c.single.fail(p, s, true, "SnapshotContentCreationFailed", fmt.Sprintf("Failed to create snapshot content with error %v", err))
		return err
	}
	return c.single.copyStatus(p, s, made, false)
}
