package snapshot

import (
	"errors"
	"fmt"

	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// settleGroupClass finds the group's class. If the group has none, settleGroupClass writes the
// default class into it. On an error it returns the unchanged group.
func (c *Controller) settleGroupClass(p *kernel.Process, g groupSnapshot) (groupSnapshot, error) {
	if name := g.Spec.VolumeGroupSnapshotClassName; name != nil {
		if _, err := c.groupClass(*name); err != nil {
			c.group.fail(p, g, false, "GetGroupSnapshotClassFailed", fmt.Sprintf("failed to get group snapshot class with error %v", err))
			return g, err
		}
		return g, nil
	}
	if g.Spec.Source.VolumeGroupSnapshotContentName != nil {
		return g, nil
	}
	name, err := c.defaultGroupClass(p, g)
	if err != nil {
		c.group.fail(p, g, false, "SetDefaultGroupSnapshotClassFailed", fmt.Sprintf("Failed to set default group snapshot class with error %v", err))
		return g, err
	}
	own := g.DeepCopy()
	own.Spec.VolumeGroupSnapshotClassName = &name
	changed, err := component.Update(p, c.Component, own)
	if err != nil {
		return g, err
	}
	c.groups.Put(changed)
	return changed, nil
}

func (c *Controller) groupClass(name string) (groupClass, error) {
	found, ok := component.Cached[groupClass](c.Component, store.Key{Name: name})
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: groupv1.GroupName, Resource: "volumegroupsnapshotclass"}, name)
	}
	return found, nil
}

// defaultGroupClass returns the only default class for the driver of the first volume.
func (c *Controller) defaultGroupClass(p *kernel.Process, g groupSnapshot) (string, error) {
	volumes, err := c.volumesOfGroup(p, g)
	if err != nil {
		return "", err
	}
	if volumes[0].Spec.CSI == nil {
		return "", fmt.Errorf("snapshotting non-CSI volumes is not supported, group snapshot:%s", store.KeyOf(g))
	}
	var names []string
	for found := range store.List[groupClass](c.Cache, "") {
		if found.Annotations[snapshot.IsDefaultGroupClass] == "true" && found.Driver == volumes[0].Spec.CSI.Driver {
			names = append(names, found.Name)
		}
	}
	switch len(names) {
	case 0:
		return "", errors.New("cannot find default group snapshot class")
	case 1:
		return names[0], nil
	}
	return "", fmt.Errorf("%d default snapshot classes were found", len(names))
}

// volumesOfGroup returns the volumes of the selected claims, which must all be bound. Expressions
// of the selector are ignored. C-GSNAP-3
func (c *Controller) volumesOfGroup(p *kernel.Process, g groupSnapshot) ([]*corev1.PersistentVolume, error) {
	if g.Spec.Source.Selector == nil {
		return nil, errors.New("the group snapshot selects no claims")
	}
	chosen := labels.SelectorFromSet(g.Spec.Source.Selector.MatchLabels)
	p.Yield("list claims")
	var volumes []*corev1.PersistentVolume
	for pvc := range store.List[claim](c.Store, g.Namespace) {
		if !chosen.Matches(labels.Set(pvc.Labels)) {
			continue
		}
		pv, err := c.volumeOfClaim(p, pvc, "take a group snapshot")
		if err != nil {
			return nil, err
		}
		volumes = append(volumes, pv)
	}
	if len(volumes) == 0 {
		return nil, fmt.Errorf("label selector %s for group snapshot not applied to any PVC", metav1.FormatLabelSelector(g.Spec.Source.Selector))
	}
	return volumes, nil
}

// createGroupContent creates the content for a group of claims. C-GSNAP-3
func (c *Controller) createGroupContent(p *kernel.Process, g groupSnapshot) (groupContent, error) {
	made, err := c.describeGroupContent(p, g)
	if err != nil {
		return nil, err
	}
	created, err := component.Create(p, c.Component, made)
	if apierrors.IsAlreadyExists(err) {
		created, err = component.Live[groupContent](p, c.Component, store.KeyOf(made))
	}
	if err != nil {
		c.warn(g, "CreateGroupSnapshotContentFailed", "Error creating volume group snapshot content object for group snapshot %s: %v.", store.KeyOf(g), err)
		return nil, failedToUpdate(store.KeyOf(g).String(), err)
	}
	c.Event(g, corev1.EventTypeNormal, "CreatingGroupSnapshot", "Waiting for a group snapshot %s to be created by the CSI driver.", store.KeyOf(g))
	c.groupContents.Put(created)
	return created, nil
}

func (c *Controller) describeGroupContent(p *kernel.Process, g groupSnapshot) (groupContent, error) {
	input := func(err error) error {
		return fmt.Errorf("failed to get input parameters to create group snapshot %s: %q", g.Name, err)
	}
	found, err := c.groupClass(*g.Spec.VolumeGroupSnapshotClassName)
	if err != nil {
		return nil, input(err)
	}
	volumes, err := c.volumesOfGroup(p, g)
	if err != nil {
		return nil, input(err)
	}
	name := snapshot.GroupContentName(g)
	secret, err := snapshot.GroupSnapshotter.Of(found.Parameters, "volumegroupsnapshot", name, g)
	if err != nil {
		return nil, input(err)
	}
	handles, err := c.handlesOf(g, volumes, found.Driver)
	if err != nil {
		return nil, err
	}
	made := &groupv1.VolumeGroupSnapshotContent{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: groupv1.VolumeGroupSnapshotContentSpec{
			VolumeGroupSnapshotRef: corev1.ObjectReference{
				APIVersion: snapshot.GroupVersion, Kind: "VolumeGroupSnapshot",
				Namespace: g.Namespace, Name: g.Name, UID: g.UID, ResourceVersion: g.ResourceVersion,
			},
			Source:                       groupv1.VolumeGroupSnapshotContentSource{VolumeHandles: handles},
			VolumeGroupSnapshotClassName: &found.Name,
			DeletionPolicy:               found.DeletionPolicy,
			Driver:                       found.Driver,
		},
	}
	if secret != nil {
		made.Annotations = map[string]string{
			snapshot.GroupDeletionSecretName: secret.Name, snapshot.GroupDeletionSecretNamespace: secret.Namespace,
		}
	}
	return made, nil
}

// handlesOf returns the handles of volumes. All must belong to the driver.
func (c *Controller) handlesOf(g groupSnapshot, volumes []*corev1.PersistentVolume, driver string) ([]string, error) {
	var handles []string
	for _, pv := range volumes {
		switch {
		case pv.Spec.CSI == nil:
			c.warn(g, "CreateGroupSnapshotContentFailed", "Cannot snapshot a non-CSI volume: %s", pv.Name)
			return nil, fmt.Errorf("cannot snapshot a non-CSI volume for group snapshot %s: %s", store.KeyOf(g), pv.Name)
		case pv.Spec.CSI.Driver != driver:
			message := fmt.Sprintf("Volume CSI driver (%s) mismatch with VolumeGroupSnapshotClass (%s) %s: %s", pv.Spec.CSI.Driver, driver, store.KeyOf(g), pv.Name)
			c.warn(g, "CreateGroupSnapshotContentFailed", "%s", message)
			return nil, failedToUpdate(store.KeyOf(g).String(), errors.New(message))
		}
		handles = append(handles, pv.Spec.CSI.VolumeHandle)
	}
	return handles, nil
}
