package snapshot

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// deleteGroup releases a group. If its content is also deleted, the content is deleted first. The
// members follow. C-GSNAP-8
func (c *Controller) deleteGroup(p *kernel.Process, g groupSnapshot) error {
	if !slices.Contains(g.Finalizers, snapshot.GroupBoundFinalizer) {
		return nil
	}
	members := c.membersOf(g)
	for _, s := range members {
		if c.isBeingRestored(s) {
			message := fmt.Sprintf("Snapshot %s belonging to VolumeGroupSnapshot %s is being used to restore a PVC", store.KeyOf(s), store.KeyOf(g))
			c.warn(g, "SnapshotDeletePending", "%s", message)
			return fmt.Errorf("%s: snapshot is in use, will retry deletion", message)
		}
	}
	goes, err := c.deleteGroupContent(p, g)
	if err != nil {
		return err
	}
	for _, s := range members {
		if _, err := component.Delete[volumeSnapshot](p, c.Component, store.KeyOf(s)); err != nil && !apierrors.IsNotFound(err) {
			err = fmt.Errorf("failed to delete snapshot API object %s part of group snapshot %s: %w", store.KeyOf(s), store.KeyOf(g), err)
			c.warn(g, "SnapshotDeleteError", "%s", err.Error())
			return err
		}
	}
	if goes {
		return nil // the content's deletion queues the group again
	}
	freed := g.DeepCopy()
	freed.Finalizers = volume.WithoutFinalizers(freed.Finalizers, snapshot.GroupBoundFinalizer)
	written, err := component.Update(p, c.Component, freed)
	if err != nil {
		return failedToUpdate(g.Name, err)
	}
	c.groups.Put(written)
	return nil
}

// deleteGroupContent permits csi-snapshotter to delete. If the policy is Delete, it also deletes
// the content. For a group that was never bound, it finds no content, because it does not search by
// name. C-GSNAP-10
func (c *Controller) deleteGroupContent(p *kernel.Process, g groupSnapshot) (goes bool, err error) {
	found, ok := c.groupContents.Get(store.Key{Name: snapshot.BoundGroupContent(g)})
	if !ok || !snapshot.IsGroupBoundTo(found, g) {
		return false, nil
	}
	if !metav1.HasAnnotation(found.ObjectMeta, snapshot.GroupBeingDeleted) {
		marked, err := component.Patch(p, c.Component, store.KeyOf(found), func(now groupContent) {
			metav1.SetMetaDataAnnotation(&now.ObjectMeta, snapshot.GroupBeingDeleted, "yes")
		})
		if err != nil {
			return false, failedToUpdate(found.Name, err)
		}
		c.groupContents.Put(marked)
	}
	if found.Spec.DeletionPolicy != deletes {
		return false, nil
	}
	if _, err := component.Delete[groupContent](p, c.Component, store.KeyOf(found)); err != nil {
		c.warn(g, "GroupSnapshotContentObjectDeleteError", "Failed to delete group snapshot content API object")
		return false, fmt.Errorf("failed to delete VolumeGroupSnapshotContent %s from API server: %q", found.Name, err)
	}
	return true, nil
}

// membersOf returns the snapshots that a group owns.
func (c *Controller) membersOf(g groupSnapshot) (members []volumeSnapshot) {
	for s := range store.Indexed[volumeSnapshot](c.Cache, store.OwnerUID, string(g.UID)) {
		members = append(members, s)
	}
	return members
}
