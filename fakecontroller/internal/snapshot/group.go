package snapshot

import (
	"fmt"
	"slices"

	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

type (
	groupSnapshot = *groupv1.VolumeGroupSnapshot
	groupContent  = *groupv1.VolumeGroupSnapshotContent
	groupClass    = *groupv1.VolumeGroupSnapshotClass
	groupStatus   = groupv1.VolumeGroupSnapshotStatus
)

// syncGroup processes a group snapshot.
func (c *Controller) syncGroup(p *kernel.Process, g groupSnapshot) error {
	g, err := c.settleGroupClass(p, g)
	if err != nil && !(g.DeletionTimestamp != nil && apierrors.IsNotFound(err)) {
		return err
	}
	if g.DeletionTimestamp != nil {
		return c.deleteGroup(p, g)
	}
	if selected, given := g.Spec.Source.Selector != nil, g.Spec.Source.VolumeGroupSnapshotContentName != nil; selected == given {
		return c.group.refuse(p, g, "GroupSnapshotValidationError", "Exactly one of Selector and VolumeGroupSnapshotContentName should be specified")
	}
	if err := c.addGroupFinalizer(p, g); err != nil {
		c.warn(g, "GroupSnapshotFinalizerError", "Failed to check and update group snapshot: %v", err)
		return err
	}
	if !snapshot.IsGroupReady(g) || snapshot.BoundGroupContent(g) == "" {
		return c.syncUnreadyGroup(p, g)
	}
	_, err = c.group.verify(p, g)
	return err
}

// addGroupFinalizer protects a bound group from deletion. C-GSNAP-8
func (c *Controller) addGroupFinalizer(p *kernel.Process, g groupSnapshot) error {
	_, exists, err := c.group.contentFor(p, g)
	if err != nil || !exists || snapshot.BoundGroupContent(g) == "" || slices.Contains(g.Finalizers, snapshot.GroupBoundFinalizer) {
		return err
	}
	own := g.DeepCopy()
	own.Finalizers = append(own.Finalizers, snapshot.GroupBoundFinalizer)
	changed, err := component.Update(p, c.Component, own)
	if err != nil {
		return failedToUpdate(store.KeyOf(g).String(), err)
	}
	c.groups.Put(changed)
	return nil
}

// syncUnreadyGroup creates the content of a group. When the driver has taken the group snapshot, it
// creates the snapshots of its members.
func (c *Controller) syncUnreadyGroup(p *kernel.Process, g groupSnapshot) error {
	found, exists, err := c.group.contentFor(p, g)
	if err != nil {
		return err
	}
	switch {
	case g.Spec.Source.VolumeGroupSnapshotContentName != nil:
		return c.group.given(p, g, found, exists)
	case exists:
		if err := c.makeMembers(p, g, found); err != nil {
			return err
		}
		return c.group.bind(p, g, found)
	}
	made, err := c.createGroupContent(p, g)
	if err != nil {
		c.group.fail(p, g, true, "GroupSnapshotContentCreationFailed", fmt.Sprintf("failed to create group snapshot content with error %v", err))
		return err
	}
	return c.group.copyStatus(p, g, made, false)
}
