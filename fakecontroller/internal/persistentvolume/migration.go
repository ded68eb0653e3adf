package persistentvolume

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/internal/world/volume"
)

// noteMigratedClaim records on a claim the driver that replaces its in-tree provisioner. C-MIG-7
func (c *Controller) noteMigratedClaim(p *kernel.Process, pvc claim) (claim, error) {
	provisioner, ok := pvc.Annotations[storagevolume.AnnStorageProvisioner]
	if !ok {
		provisioner, ok = pvc.Annotations[storagevolume.AnnBetaStorageProvisioner]
	}
	if !ok || c.isNoted(&pvc.ObjectMeta, provisioner) {
		return pvc, nil
	}
	changed := pvc.DeepCopy()
	c.note(&changed.ObjectMeta, provisioner)
	updated, err := component.Update(p, c.Component, changed)
	if err != nil {
		return nil, fmt.Errorf("note the migration of claim %s: %w", pvc.Name, err)
	}
	c.claims.Put(updated)
	return updated, nil
}

// alignVolume records the driver on a volume from a provisioner, and sets the finalizers of the
// plugin that has to delete the volume. C-MIG-7, C-PV-36
func (c *Controller) alignVolume(p *kernel.Process, pv *corev1.PersistentVolume) (*corev1.PersistentVolume, error) {
	provisioner, ok := pv.Annotations[storagevolume.AnnDynamicallyProvisioned]
	if !ok {
		return pv, nil
	}
	finalizers := c.deletionFinalizers(pv, provisioner)
	if c.isNoted(&pv.ObjectMeta, provisioner) && slices.Equal(finalizers, pv.Finalizers) {
		return pv, nil
	}
	changed := pv.DeepCopy()
	c.note(&changed.ObjectMeta, provisioner)
	changed.Finalizers = finalizers
	updated, err := component.Update(p, c.Component, changed)
	if err != nil {
		return nil, fmt.Errorf("align volume %s with its provisioner: %w", pv.Name, err)
	}
	c.volumes.Put(updated)
	return updated, nil
}

// deletionFinalizers returns the finalizers that a volume should have. If an in-tree plugin created
// the volume and has to delete it, the volume has the finalizer for this plugin only. C-PV-36
func (c *Controller) deletionFinalizers(pv *corev1.PersistentVolume, provisioner string) []string {
	if !c.Version.Has(version.HonorReclaimPolicy) {
		return pv.Finalizers
	}
	const own, external = storagevolume.PVDeletionInTreeProtectionFinalizer, storagevolume.PVDeletionProtectionFinalizer
	switch _, migrated := c.Migration.Driver(provisioner); {
	case migrated:
		return volume.WithoutFinalizers(pv.Finalizers, own)
	case !inTree(provisioner):
		return pv.Finalizers
	case pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete:
		return volume.WithoutFinalizers(pv.Finalizers, own, external)
	case slices.Contains(pv.Finalizers, own):
		return volume.WithoutFinalizers(pv.Finalizers, external)
	default:
		return volume.WithoutFinalizers(append(slices.Clone(pv.Finalizers), own), external)
	}
}

func (c *Controller) isNoted(meta *metav1.ObjectMeta, provisioner string) bool {
	driver, ok := c.Migration.Driver(provisioner)
	if !ok {
		driver = "" // the plugin's driver does not act for it
	}
	return meta.Annotations[storagevolume.AnnMigratedTo] == driver
}

func (c *Controller) note(meta *metav1.ObjectMeta, provisioner string) {
	if driver, ok := c.Migration.Driver(provisioner); ok {
		metav1.SetMetaDataAnnotation(meta, storagevolume.AnnMigratedTo, driver)
	} else {
		delete(meta.Annotations, storagevolume.AnnMigratedTo)
	}
}
