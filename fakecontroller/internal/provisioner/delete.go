package provisioner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/seeded"
	"github.com/csisim/csisim/internal/world/store"
)

type persistentVolume = *corev1.PersistentVolume

// concerns reports whether the volume is this provisioner's. C-PROV-70
func (c *Provisioner) concerns(pv persistentVolume) bool {
	if pv.Annotations[storagevolume.AnnMigratedTo] == c.driver {
		return true
	}
	if by, ok := pv.Annotations[storagevolume.AnnDynamicallyProvisioned]; ok {
		return by == c.driver || by == c.plugin && by != ""
	}
	return pv.Spec.CSI != nil && pv.Spec.CSI.Driver == c.driver
}

// syncVolume updates the finalizer of a volume and deletes a released volume.
func (c *Provisioner) syncVolume(p *kernel.Process, name string) error {
	pv, ok := component.Cached[persistentVolume](c.Component, store.Key{Name: name})
	if !ok {
		return nil
	}
	pv, err := c.keepFinalizer(p, pv)
	if err != nil {
		return err
	}
	if !c.shouldDelete(pv) {
		return nil
	}
	err = c.deleteVolume(p, pv)
	if errors.Is(err, errElsewhere) {
		return nil
	}
	if err != nil && !seeded.IsMade(seeded.DeletedAtError) {
		c.event(pv, corev1.EventTypeWarning, "VolumeFailedDelete", "%v", err)
		return err
	}
	c.capacities.refreshFor(pv)
	return c.removeObject(p, pv)
}

// patchTime is the time between the creation of a volume with the policy Retain and the
// provisioner's merged patch. The volume controller starts at the same change and writes a status
// that it has prepared. On a real cluster the volume controller was first in every run: the volume
// becomes Bound, then loses the finalizer.
const patchTime = time.Millisecond

// keepFinalizer: C-PROV-71
func (c *Provisioner) keepFinalizer(p *kernel.Process, pv persistentVolume) (persistentVolume, error) {
	has := hasFinalizer(pv)
	deletable := c.options.honorsPolicy() && pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
	switch {
	case deletable && !has && pv.DeletionTimestamp == nil && pv.Status.Phase == corev1.VolumeBound:
		return c.patchFinalizer(p, pv, true)
	case !deletable && has:
		p.Sleep(patchTime)
		return c.patchFinalizer(p, pv, false)
	}
	return pv, nil
}

func hasFinalizer(pv persistentVolume) bool {
	return slices.Contains(pv.Finalizers, storagevolume.PVDeletionProtectionFinalizer)
}

// patchFinalizer adds or removes the provisioner's finalizer of a volume.
func (c *Provisioner) patchFinalizer(p *kernel.Process, pv persistentVolume, on bool) (persistentVolume, error) {
	patched, err := component.PatchMetadata(p, c.Component, store.KeyOf(pv), func(now persistentVolume) {
		now.Finalizers = slices.DeleteFunc(now.Finalizers, func(f string) bool { return f == storagevolume.PVDeletionProtectionFinalizer })
		if on {
			now.Finalizers = append(now.Finalizers, storagevolume.PVDeletionProtectionFinalizer)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("change the finalizers of volume %s: %w", pv.Name, err)
	}
	return patched, nil
}

// shouldDelete: C-PROV-72
func (c *Provisioner) shouldDelete(pv persistentVolume) bool {
	return pv.Status.Phase == corev1.VolumeReleased &&
		pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete &&
		(pv.DeletionTimestamp == nil || c.options.honorsPolicy() && hasFinalizer(pv))
}

// deleteVolume calls DeleteVolume for a volume without attachments. C-PROV-73
func (c *Provisioner) deleteVolume(p *kernel.Process, pv persistentVolume) error {
	pv, err := migration.PV(pv)
	if err != nil {
		return err
	}
	if pv.Spec.CSI == nil {
		return fmt.Errorf("persistentvolume %s is not a CSI volume", pv.Name)
	}
	if c.local != nil {
		made, err := c.local.made(pv)
		if err != nil {
			return fmt.Errorf("checking volume affinity failed: %w", err)
		}
		if !made {
			return errElsewhere
		}
	}
	if c.promises.Can("PUBLISH_UNPUBLISH_VOLUME") && !seeded.IsMade(seeded.DeletedInUse) {
		for attachment := range store.Indexed[*storagev1.VolumeAttachment](c.Cache, kind.AttachmentsByVolume, pv.Name) {
			return fmt.Errorf("persistentvolume %s is still attached to node %s", pv.Name, attachment.Spec.NodeName)
		}
	}
	secrets, err := c.deletionSecret(p, pv)
	if err != nil {
		return err
	}
	_, err = csi.NewControllerClient(c.conn(p)).DeleteVolume(context.Background(), &csi.DeleteVolumeRequest{
		VolumeId: pv.Spec.CSI.VolumeHandle, Secrets: secrets,
	})
	return err
}

// deletionSecret returns the secret that the volume's annotations name. Without these annotations,
// it returns the secret that the class names. The volume is deleted even if the secret is missing.
func (c *Provisioner) deletionSecret(p *kernel.Process, pv persistentVolume) (map[string]string, error) {
	ref, err := c.deletionSecretRef(pv)
	if err != nil || ref == nil || ref.Name == "" {
		return nil, err
	}
	secrets, err := sidecar.ReadSecret(p, c.Component, ref)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return secrets, err
}

func (c *Provisioner) deletionSecretRef(pv persistentVolume) (*corev1.SecretReference, error) {
	if name, ok := pv.Annotations[annDeletionSecretName]; ok {
		return &corev1.SecretReference{Name: name, Namespace: pv.Annotations[annDeletionSecretNamespace]}, nil
	}
	class, ok := component.Cached[*storagev1.StorageClass](c.Component, store.Key{Name: storagevolume.GetPersistentVolumeClass(pv)})
	if !ok || pv.Spec.ClaimRef == nil {
		return nil, nil
	}
	former := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: pv.Spec.ClaimRef.Namespace, Name: pv.Spec.ClaimRef.Name}}
	return secretKinds[0].resolve(class.Parameters, pv.Name, former)
}

// removeObject deletes the object of a deleted volume and removes its finalizer. A missing object
// is also an error: the cache was late, and a retry reads it again. C-PROV-74, C-PROV-75
func (c *Provisioner) removeObject(p *kernel.Process, pv persistentVolume) error {
	if _, err := component.Delete[persistentVolume](p, c.Component, store.KeyOf(pv)); err != nil {
		return fmt.Errorf("delete volume object %s: %w", pv.Name, err)
	}
	if !hasFinalizer(pv) {
		return nil
	}
	if _, err := c.patchFinalizer(p, pv, false); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}
