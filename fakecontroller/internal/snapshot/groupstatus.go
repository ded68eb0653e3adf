package snapshot

import (
	"fmt"
	"slices"

	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// copyGroupStatus copies the status of the content into a group. C-GSNAP-7
func (c *Controller) copyGroupStatus(p *kernel.Process, g groupSnapshot, from groupContent) error {
	now, err := c.group.read(p, g)
	if err != nil {
		return err
	}
	next := now.DeepCopy()
	next.Status = groupStatusAfter(now.Status, from)
	if equality.Semantic.DeepEqual(next.Status, now.Status) {
		return nil
	}
	if (now.Status == nil || now.Status.CreationTime == nil) && next.Status.CreationTime != nil {
		c.Event(g, corev1.EventTypeNormal, "GroupSnapshotCreated", "GroupSnapshot %s was successfully created by the CSI driver.", store.KeyOf(g))
	}
	if !snapshot.IsGroupReady(now) && snapshot.IsGroupReady(next) {
		c.Event(g, corev1.EventTypeNormal, "GroupSnapshotReady", "GroupSnapshot %s is ready to use.", store.KeyOf(g))
	}
	written, err := component.UpdateStatus(p, c.Component, next)
	if err != nil {
		return failedToUpdate(store.KeyOf(g).String(), err)
	}
	c.groups.Put(written)
	return nil
}

// groupStatusAfter returns a group's status after a change of its content. Earlier values stay,
// except for readiness and the error.
func groupStatusAfter(old *groupStatus, from groupContent) *groupStatus {
	next := old.DeepCopy()
	if next == nil {
		next = &groupStatus{}
	}
	if next.BoundVolumeGroupSnapshotContentName == nil {
		name := from.Name
		next.BoundVolumeGroupSnapshotContentName = &name
	}
	said := from.Status
	if said == nil {
		said = &groupv1.VolumeGroupSnapshotContentStatus{}
	}
	if next.CreationTime == nil {
		next.CreationTime = said.CreationTime.DeepCopy()
	}
	ready := said.ReadyToUse != nil && *said.ReadyToUse
	next.ReadyToUse = &ready
	next.Error = said.Error.DeepCopy()
	return next
}

// syncGroupContent protects a group's content and passes on its status.
func (c *Controller) syncGroupContent(p *kernel.Process, found groupContent) error {
	source := found.Spec.Source
	if (source.GroupSnapshotHandles == nil) == (len(source.VolumeHandles) == 0) {
		const message = "Exactly one of GroupSnapshotHandles and VolumeHandles should be specified"
		c.warn(found, "GroupContentValidationError", message)
		return fmt.Errorf("validate group content %s: %s", found.Name, message)
	}
	if found.Spec.VolumeGroupSnapshotRef.UID == "" {
		return nil // the group will be bound to this content
	}
	if found.DeletionTimestamp == nil && !slices.Contains(found.Finalizers, snapshot.GroupContentFinalizer) {
		return guard(p, c, c.groupContents, found, snapshot.GroupContentFinalizer)
	}
	g, ok := c.groups.Get(groupOf(found))
	if ok && g.UID == found.Spec.VolumeGroupSnapshotRef.UID && found.Status != nil {
		c.groupQueue.Add(store.KeyOf(g))
	}
	return nil
}

// groupOf returns the key of the group of a content.
func groupOf(c groupContent) store.Key {
	return store.Key{Namespace: c.Spec.VolumeGroupSnapshotRef.Namespace, Name: c.Spec.VolumeGroupSnapshotRef.Name}
}
