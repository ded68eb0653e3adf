package snapshot

import (
	"errors"
	"fmt"
	"slices"

	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

type (
	groupSnapshot = *groupv1.VolumeGroupSnapshot
	groupContent  = *groupv1.VolumeGroupSnapshotContent
	groupClass    = *groupv1.VolumeGroupSnapshotClass
)

// syncGroupByKey ignores late events of the informer, as syncSnapshotByKey does.
func (c *Controller) syncGroupByKey(p *kernel.Process, key store.Key) error {
	g, ok := component.Cached[groupSnapshot](c.Component, key)
	if !ok || c.groups.Newest(g) != g {
		return nil
	}
	g, err := c.settleGroupClass(p, g)
	if err != nil && !(g.DeletionTimestamp != nil && apierrors.IsNotFound(err)) {
		return err
	}
	if g.DeletionTimestamp != nil {
		return c.deleteGroup(p, g)
	}
	if selected, given := g.Spec.Source.Selector != nil, g.Spec.Source.VolumeGroupSnapshotContentName != nil; selected == given {
		return c.refuseGroup(p, g, "GroupSnapshotValidationError", "Exactly one of Selector and VolumeGroupSnapshotContentName should be specified")
	}
	if err := c.addGroupFinalizer(p, g); err != nil {
		c.warn(g, "GroupSnapshotFinalizerError", "Failed to check and update group snapshot: %v", err)
		return err
	}
	if !snapshot.IsGroupReady(g) || snapshot.BoundGroupContent(g) == "" {
		return c.syncUnreadyGroup(p, g)
	}
	return c.syncReadyGroup(p, g)
}

// addGroupFinalizer keeps a group that is bound. C-GSNAP-8
func (c *Controller) addGroupFinalizer(p *kernel.Process, g groupSnapshot) error {
	found, err := c.groupContentFor(p, g)
	if err != nil || found == nil || snapshot.BoundGroupContent(g) == "" || slices.Contains(g.Finalizers, snapshot.GroupBoundFinalizer) {
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

// syncUnreadyGroup brings a group on its way: its content first, then, once the
// driver has cut the group, the snapshots of its members.
func (c *Controller) syncUnreadyGroup(p *kernel.Process, g groupSnapshot) error {
	found, err := c.groupContentFor(p, g)
	if err != nil {
		return err
	}
	switch {
	case g.Spec.Source.VolumeGroupSnapshotContentName != nil:
		return c.bindGivenGroup(p, g, found)
	case found != nil:
		if err := c.makeMembers(p, g, found); err != nil {
			return err
		}
		return c.bindGroup(p, g, found)
	}
	made, err := c.createGroupContent(p, g)
	if err != nil {
		c.failGroup(p, g, true, "GroupSnapshotContentCreationFailed", fmt.Sprintf("failed to create group snapshot content with error %v", err))
		return err
	}
	return c.copyGroupStatus(p, g, made, false)
}

// bindGivenGroup binds a group snapshot to the content that it names.
func (c *Controller) bindGivenGroup(p *kernel.Process, g groupSnapshot, found groupContent) error {
	if found == nil {
		c.failGroup(p, g, true, "GroupSnapshotContentMissing", "VolumeGroupSnapshotContent is missing")
		return fmt.Errorf("group snapshot %s requests an non-existing group snapshot content %s", store.KeyOf(g), *g.Spec.Source.VolumeGroupSnapshotContentName)
	}
	if found.Spec.VolumeGroupSnapshotRef.UID == "" || found.Spec.VolumeGroupSnapshotClassName == nil && g.Spec.VolumeGroupSnapshotClassName != nil {
		bound, err := component.Patch(p, c.Component, store.KeyOf(found), func(now groupContent) {
			now.Spec.VolumeGroupSnapshotRef.UID = g.UID
			if name := g.Spec.VolumeGroupSnapshotClassName; name != nil {
				now.Spec.VolumeGroupSnapshotClassName = name
			}
		})
		if err != nil {
			c.failGroup(p, g, true, "GroupSnapshotBindFailed", fmt.Sprintf("GroupSnapshot failed to bind VolumeGroupSnapshotContent, %v", err))
			return fmt.Errorf("group snapshot %s is bound, but VolumeGroupSnapshotContent %s is not bound to the VolumeGroupSnapshot correctly, %w", store.KeyOf(g), found.Name, err)
		}
		c.groupContents.Put(bound)
		found = bound
	}
	return c.copyGroupStatus(p, g, found, false)
}

// syncReadyGroup only looks whether the binding is still there.
func (c *Controller) syncReadyGroup(p *kernel.Process, g groupSnapshot) error {
	found, ok := c.groupContents.Get(store.Key{Name: snapshot.BoundGroupContent(g)})
	switch {
	case !ok:
		return c.failGroup(p, g, true, "GroupSnapshotContentMissing", "VolumeGroupSnapshotContent is missing")
	case !snapshot.IsGroupBoundTo(found, g):
		return c.failGroup(p, g, true, "GroupSnapshotMisbound", "VolumeGroupSnapshotContent is not bound to the VolumeGroupSnapshot correctly")
	}
	return nil
}

// groupContentFor finds the content of a group, nil if there is none, and refuses
// one of another kind or for another group.
func (c *Controller) groupContentFor(p *kernel.Process, g groupSnapshot) (groupContent, error) {
	name, given := snapshot.GroupContentName(g), g.Spec.Source.VolumeGroupSnapshotContentName != nil
	is, expected := "pre-provisioned", "dynamically provisioned"
	if given {
		name, is, expected = *g.Spec.Source.VolumeGroupSnapshotContentName, expected, is
	}
	found, ok := c.groupContents.Get(store.Key{Name: name})
	if !ok {
		return nil, nil
	}
	ref := found.Spec.VolumeGroupSnapshotRef
	switch {
	case (found.Spec.Source.GroupSnapshotHandles != nil) != given:
		subject := "VolumeGroupSnapshotContent"
		if !given {
			subject += " " + name
		}
		return nil, c.refuseGroup(p, g, "GroupSnapshotContentMismatch", fmt.Sprintf("%s is %s while expecting a %s one", subject, is, expected))
	case ref.Name != g.Name || ref.Namespace != g.Namespace || ref.UID != g.UID && !(given && ref.UID == ""):
		return nil, c.refuseGroup(p, g, "GroupSnapshotContentMisbound", fmt.Sprintf("VolumeGroupSnapshotContent [%s] is bound to a different group snapshot", name))
	}
	return found, nil
}

func (c *Controller) refuseGroup(p *kernel.Process, g groupSnapshot, reason, message string) error {
	c.failGroup(p, g, true, reason, message)
	return errors.New(message)
}

// failGroup writes an error into the group and reports it, unless it is the one
// that is there already.
func (c *Controller) failGroup(p *kernel.Process, g groupSnapshot, unready bool, reason, message string) error {
	if g.Status != nil && g.Status.Error != nil && *g.Status.Error.Message == message {
		return nil
	}
	failed := g.DeepCopy()
	if failed.Status == nil {
		failed.Status = &groupv1.VolumeGroupSnapshotStatus{}
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
	c.warn(g, reason, "%s", message)
	c.groups.Put(written)
	return nil
}
