package snapshot

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
		return c.refuse(p, s, "SnapshotValidationError", "Exactly one of PersistentVolumeClaimName and VolumeSnapshotContentName should be specified")
	}
	if err := c.addFinalizers(p, s); err != nil {
		c.warn(s, "SnapshotFinalizerError", "Failed to check and update snapshot: %v", err)
		return err
	}
	if !snapshot.IsReady(s) || snapshot.BoundContent(s) == "" {
		return c.syncUnready(p, s)
	}
	return c.syncReady(p, s)
}

// addFinalizers: C-SNAP-19
func (c *Controller) addFinalizers(p *kernel.Process, s volumeSnapshot) error {
	found, err := c.contentFor(p, s)
	if err != nil {
		return err
	}
	var missing []string
	if !slices.Contains(s.Finalizers, snapshot.AsSourceFinalizer) {
		missing = append(missing, snapshot.AsSourceFinalizer)
	}
	if found != nil && found.Spec.DeletionPolicy == deletes && snapshot.BoundContent(s) != "" && !slices.Contains(s.Finalizers, snapshot.BoundFinalizer) {
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

// syncUnready brings a snapshot on its way. C-SNAP-13 to C-SNAP-15
func (c *Controller) syncUnready(p *kernel.Process, s volumeSnapshot) error {
	if s.Status == nil || s.Status.CreationTime == nil {
		c.begin(creation, s)
	}
	c.begin(creationAndReady, s)
	found, err := c.contentFor(p, s)
	if err != nil {
		return err
	}
	switch {
	case s.Spec.Source.VolumeSnapshotContentName != nil:
		return c.bindGiven(p, s, found)
	case snapshot.GroupOf(s) != "":
		return c.syncUnreadyMember(p, s)
	case found != nil && found.Spec.Source.SnapshotHandle != nil:
		c.fail(p, s, true, "SnapshotHandleSet", fmt.Sprintf("Snapshot handle should not be set in content %s for dynamic provisioning", store.KeyOf(s)))
		return fmt.Errorf("snapshotHandle should not be set in the content for dynamic provisioning for snapshot %s", store.KeyOf(s))
	case found != nil:
		return c.bind(p, s, found)
	}
	made, err := c.createContent(p, s)
	if err != nil {
		c.fail(p, s, true, "SnapshotContentCreationFailed", fmt.Sprintf("Failed to create snapshot content with error %v", err))
		return err
	}
	return c.copyStatus(p, s, made, false)
}

// bindGiven binds a snapshot to the content that it names. C-SNAP-15
func (c *Controller) bindGiven(p *kernel.Process, s volumeSnapshot, found content) error {
	if found == nil {
		c.fail(p, s, true, "SnapshotContentMissing", "VolumeSnapshotContent is missing")
		return fmt.Errorf("snapshot %s requests an non-existing content %s", store.KeyOf(s), *s.Spec.Source.VolumeSnapshotContentName)
	}
	if found.Spec.VolumeSnapshotRef.UID == "" || found.Spec.VolumeSnapshotClassName == nil && s.Spec.VolumeSnapshotClassName != nil {
		bound, err := component.Patch(p, c.Component, store.KeyOf(found), func(now content) {
			now.Spec.VolumeSnapshotRef.UID = s.UID
			if name := s.Spec.VolumeSnapshotClassName; name != nil {
				now.Spec.VolumeSnapshotClassName = name
			}
		})
		if err != nil {
			c.fail(p, s, true, "SnapshotBindFailed", fmt.Sprintf("Snapshot failed to bind VolumeSnapshotContent, %v", err))
			return fmt.Errorf("snapshot %s is bound, but VolumeSnapshotContent %s is not bound to the VolumeSnapshot correctly, %w", store.KeyOf(s), found.Name, err)
		}
		c.contents.Put(bound)
		found = bound
	}
	return c.copyStatus(p, s, found, false)
}

// syncReady only looks whether the binding is still there. C-SNAP-17
func (c *Controller) syncReady(p *kernel.Process, s volumeSnapshot) error {
	found, ok := c.contents.Get(store.Key{Name: snapshot.BoundContent(s)})
	switch {
	case !ok:
		return c.fail(p, s, true, "SnapshotContentMissing", "VolumeSnapshotContent is missing")
	case !snapshot.IsBoundTo(found, s):
		return c.fail(p, s, true, "SnapshotMisbound", "VolumeSnapshotContent is not bound to the VolumeSnapshot correctly")
	}
	return c.adopt(p, s)
}

// contentFor finds the content of a snapshot, nil if there is none, and refuses
// one of another kind or for another snapshot. C-SNAP-14
func (c *Controller) contentFor(p *kernel.Process, s volumeSnapshot) (content, error) {
	if name := s.Spec.Source.VolumeSnapshotContentName; name != nil {
		found, ok := c.contents.Get(store.Key{Name: *name})
		switch ref := found; {
		case !ok:
			return nil, nil
		case ref.Spec.Source.SnapshotHandle == nil:
			return nil, c.refuse(p, s, "SnapshotContentMismatch", "VolumeSnapshotContent is dynamically provisioned while expecting a pre-provisioned one")
		case !isFor(ref, s, true):
			return nil, c.refuse(p, s, "SnapshotContentMisbound", fmt.Sprintf("VolumeSnapshotContent [%s] is bound to a different snapshot", *name))
		}
		return found, nil
	}
	name := snapshot.ContentName(s)
	found, ok := c.contents.Get(store.Key{Name: name})
	switch {
	case !ok:
		return nil, nil
	case found.Spec.Source.VolumeHandle == nil:
		return nil, c.refuse(p, s, "SnapshotContentMismatch", "VolumeSnapshotContent "+name+" is pre-provisioned while expecting a dynamically provisioned one")
	case !isFor(found, s, false):
		return nil, c.refuse(p, s, "SnapshotContentMisbound", fmt.Sprintf("VolumeSnapshotContent [%s] is bound to a different snapshot", name))
	}
	return found, nil
}

// isFor reports whether a content is for the snapshot; orAny allows one that is
// for whatever snapshot has that name.
func isFor(found content, s volumeSnapshot, orAny bool) bool {
	ref := found.Spec.VolumeSnapshotRef
	return ref.Name == s.Name && ref.Namespace == s.Namespace && (ref.UID == s.UID || orAny && ref.UID == "")
}

func (c *Controller) refuse(p *kernel.Process, s volumeSnapshot, reason, message string) error {
	c.fail(p, s, true, reason, message)
	return errors.New(message)
}

// fail writes an error into the snapshot and reports it, unless it is the one
// that is there already. If it cannot be written, no event is emitted: the real event
// would be about an object without a name. C-SNAP-16
func (c *Controller) fail(p *kernel.Process, s volumeSnapshot, unready bool, reason, message string) error {
	if s.Status != nil && s.Status.Error != nil && *s.Status.Error.Message == message {
		return nil
	}
	failed := s.DeepCopy()
	if failed.Status == nil {
		failed.Status = &status{}
	}
	now := metav1.NewTime(p.Now())
	failed.Status.Error = &statusError{Time: &now, Message: &message}
	if unready {
		failed.Status.ReadyToUse = new(bool)
	}
	written, err := component.UpdateStatus(p, c.Component, failed)
	if err != nil {
		return err
	}
	c.warn(s, reason, "%s", message)
	c.snapshots.Put(written)
	return nil
}
