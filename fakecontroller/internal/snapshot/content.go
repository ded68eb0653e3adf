package snapshot

import (
	"fmt"
	"slices"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// syncContent protects a content and passes on its status. C-SNAP-20
func (c *Controller) syncContent(p *kernel.Process, found content) error {
	source := found.Spec.Source
	if (source.VolumeHandle == nil) == (source.SnapshotHandle == nil) {
		message := "Exactly one of VolumeHandle and SnapshotHandle should be specified"
		c.warn(found, "ContentValidationError", "%s", message)
		return fmt.Errorf("validate content %s: %s", found.Name, message)
	}
	if found.Spec.VolumeSnapshotRef.UID == "" {
		return nil // the snapshot will be bound to this content
	}
	if found.DeletionTimestamp == nil && !slices.Contains(found.Finalizers, snapshot.ContentFinalizer) {
		return guard(p, c, c.contents, found, snapshot.ContentFinalizer)
	}
	s, ok := c.snapshots.Get(snapshotOf(found))
	if !ok || s.UID != found.Spec.VolumeSnapshotRef.UID {
		return nil // a content without its snapshot stays, because its data may be needed
	}
	if found.Status != nil {
		c.snapshotQueue.Add(store.KeyOf(s))
	}
	if mayBeDeleted(s) {
		_, err := c.markBeingDeleted(p, found)
		return err
	}
	return nil
}
