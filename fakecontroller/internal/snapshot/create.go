package snapshot

import (
	"errors"
	"fmt"
	"slices"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// settleClass finds the snapshot's class. If the snapshot has none, settleClass writes the default
// class into it. On an error it returns the unchanged snapshot. C-SNAP-12 (1)
func (c *Controller) settleClass(p *kernel.Process, s volumeSnapshot) (volumeSnapshot, error) {
	if s.Spec.VolumeSnapshotClassName != nil {
		if _, err := c.class(*s.Spec.VolumeSnapshotClassName); err != nil {
			c.single.fail(p, s, false, "GetSnapshotClassFailed", fmt.Sprintf("Failed to get snapshot class with error %v", err))
			return s, err
		}
		return s, nil
	}
	if s.Spec.Source.VolumeSnapshotContentName != nil || snapshot.GroupOf(s) != "" {
		return s, nil
	}
	name, err := c.defaultClass(p, s)
	if err != nil {
		c.single.fail(p, s, false, "SetDefaultSnapshotClassFailed", fmt.Sprintf("Failed to set default snapshot class with error %v", err))
		return s, err
	}
	changed, err := component.Patch(p, c.Component, store.KeyOf(s), func(now volumeSnapshot) { now.Spec.VolumeSnapshotClassName = &name })
	if err != nil {
		return s, err
	}
	c.snapshots.Put(changed)
	return changed, nil
}

func (c *Controller) class(name string) (class, error) {
	found, ok := component.Cached[class](c.Component, store.Key{Name: name})
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: snapshotv1.GroupName, Resource: "volumesnapshotclass"}, name)
	}
	return found, nil
}

// defaultClass returns the only default class for the driver of the source volume.
func (c *Controller) defaultClass(p *kernel.Process, s volumeSnapshot) (string, error) {
	pv, err := c.volumeOf(p, s)
	if err != nil {
		return "", err
	}
	if pv.Spec.CSI == nil {
		return "", fmt.Errorf("snapshotting non-CSI volumes is not supported, snapshot:%s", store.KeyOf(s))
	}
	var names []string
	for found := range store.List[class](c.Cache, "") {
		if found.Annotations[snapshot.IsDefaultClass] == "true" && found.Driver == pv.Spec.CSI.Driver {
			names = append(names, found.Name)
		}
	}
	switch len(names) {
	case 0:
		return "", errors.New("cannot find default snapshot class")
	case 1:
		return names[0], nil
	}
	return "", fmt.Errorf("%d default snapshot classes were found", len(names))
}

func (c *Controller) claimOf(s volumeSnapshot) (claim, error) {
	key := store.Key{Namespace: s.Namespace, Name: *s.Spec.Source.PersistentVolumeClaimName}
	pvc, ok := component.Cached[claim](c.Component, key)
	if !ok {
		return nil, fmt.Errorf("failed to retrieve PVC %s from the lister: %q", key.Name,
			apierrors.NewNotFound(schema.GroupResource{Resource: "persistentvolumeclaim"}, key.Name))
	}
	return pvc, nil
}

// volumeOf returns the volume to snapshot. It must be bound to the claim. C-SNAP-13
func (c *Controller) volumeOf(p *kernel.Process, s volumeSnapshot) (*corev1.PersistentVolume, error) {
	pvc, err := c.claimOf(s)
	if err != nil {
		return nil, err
	}
	return c.volumeOfClaim(p, pvc, "take a snapshot")
}

func (c *Controller) volumeOfClaim(p *kernel.Process, pvc claim, purpose string) (*corev1.PersistentVolume, error) {
	if pvc.Status.Phase != corev1.ClaimBound {
		return nil, fmt.Errorf("the PVC %s is not yet bound to a PV, will not attempt to %s", pvc.Name, purpose)
	}
	pv, err := component.Live[*corev1.PersistentVolume](p, c.Component, store.Key{Name: pvc.Spec.VolumeName})
	if err != nil {
		return nil, fmt.Errorf("failed to retrieve PV %s from the API server: %q", pvc.Spec.VolumeName, err)
	}
	ref := pv.Spec.ClaimRef
	if ref == nil || ref.Name != pvc.Name || ref.Namespace != pvc.Namespace || ref.UID != "" && ref.UID != pvc.UID {
		return nil, errors.New("claim in dataSource not bound or invalid")
	}
	return pv, nil
}

// createContent creates the content for a snapshot of a claim. C-SNAP-13
func (c *Controller) createContent(p *kernel.Process, s volumeSnapshot) (content, error) {
	if err := c.protectClaim(p, s); err != nil {
		return nil, err
	}
	made, err := c.describeContent(p, s)
	if err != nil {
		return nil, fmt.Errorf("failed to get input parameters to create snapshot %s: %q", s.Name, err)
	}
	created, err := component.Create(p, c.Component, made)
	if apierrors.IsAlreadyExists(err) {
		created, err = component.Live[content](p, c.Component, store.KeyOf(made))
	}
	if err != nil {
		c.warn(s, "CreateSnapshotContentFailed", "Error creating volume snapshot content object for snapshot %s: %v.", store.KeyOf(s), err)
		return nil, failedToUpdate(store.KeyOf(s).String(), err)
	}
	c.Event(s, corev1.EventTypeNormal, "CreatingSnapshot", "Waiting for a snapshot %s to be created by the CSI driver.", store.KeyOf(s))
	c.contents.Put(created)
	return created, nil
}

func (c *Controller) describeContent(p *kernel.Process, s volumeSnapshot) (content, error) {
	if s.Spec.VolumeSnapshotClassName == nil {
		return nil, fmt.Errorf("failed to take snapshot %s without a snapshot class", s.Name)
	}
	found, err := c.class(*s.Spec.VolumeSnapshotClassName)
	if err != nil {
		return nil, err
	}
	pv, err := c.volumeOf(p, s)
	if err != nil {
		return nil, err
	}
	if pv.Spec.CSI == nil {
		return nil, fmt.Errorf("cannot find CSI PersistentVolumeSource for volume %s", pv.Name)
	}
	name := snapshot.ContentName(s)
	secret, err := snapshot.Snapshotter.Of(found.Parameters, "volumesnapshot", name, s)
	if err != nil {
		return nil, err
	}
	made := &snapshotv1.VolumeSnapshotContent{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: snapshotv1.VolumeSnapshotContentSpec{
			VolumeSnapshotRef: corev1.ObjectReference{
				APIVersion: snapshotv1.GroupName + "/v1", Kind: "VolumeSnapshot",
				Namespace: s.Namespace, Name: s.Name, UID: s.UID, ResourceVersion: s.ResourceVersion,
			},
			Source:                  snapshotv1.VolumeSnapshotContentSource{VolumeHandle: &pv.Spec.CSI.VolumeHandle},
			VolumeSnapshotClassName: &found.Name,
			DeletionPolicy:          found.DeletionPolicy,
			Driver:                  found.Driver,
			SourceVolumeMode:        pv.Spec.VolumeMode,
		},
	}
	if secret != nil {
		made.Annotations = map[string]string{
			snapshot.DeletionSecretName: secret.Name, snapshot.DeletionSecretNamespace: secret.Namespace,
		}
	}
	return made, nil
}

// protectClaim prevents the deletion of the claim during the snapshot. C-SNAP-13
func (c *Controller) protectClaim(p *kernel.Process, s volumeSnapshot) error {
	pvc, err := c.claimOf(s)
	switch {
	case err != nil:
		return failedToUpdate(s.Name, errors.New("cannot get claim from snapshot"))
	case slices.Contains(pvc.Finalizers, snapshot.ClaimFinalizer):
		return nil
	case pvc.DeletionTimestamp != nil:
		return failedToUpdate(pvc.Name, errors.New("cannot add finalizer on claim because it is being deleted"))
	}
	guarded := pvc.DeepCopy()
	guarded.Finalizers = append(guarded.Finalizers, snapshot.ClaimFinalizer)
	if _, err := component.Update(p, c.Component, guarded); err != nil {
		return failedToUpdate(pvc.Name, err)
	}
	return nil
}

// releaseClaim removes the finalizer of a claim if no snapshot of it is in progress. With own, the
// snapshot itself does not count. C-SNAP-21
func (c *Controller) releaseClaim(p *kernel.Process, s volumeSnapshot, own bool) error {
	if s.Spec.Source.PersistentVolumeClaimName == nil {
		return nil
	}
	pvc, err := c.claimOf(s)
	if err != nil || !slices.Contains(pvc.Finalizers, snapshot.ClaimFinalizer) {
		return nil
	}
	for other := range store.Indexed[volumeSnapshot](c.Cache, kind.SnapshotsByClaim, store.KeyOf(pvc).String()) {
		if !(own && other.Name == s.Name) && !snapshot.IsReady(other) {
			return nil
		}
	}
	_, err = component.Patch(p, c.Component, store.KeyOf(pvc), func(pvc claim) {
		pvc.Finalizers = volume.WithoutFinalizers(pvc.Finalizers, snapshot.ClaimFinalizer)
	})
	if err != nil {
		return failedToUpdate(pvc.Name, err)
	}
	return nil
}
