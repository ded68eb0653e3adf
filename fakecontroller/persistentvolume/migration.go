package persistentvolume

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/sim/component"
	"github.com/csisim/csisim/sim/kernel"
)

// noteMigratedClaim keeps on a claim which driver stands in for its in-tree
// provisioner. C-MIG-7
func (c *Controller) noteMigratedClaim(p *kernel.Process, pvc claim) (claim, error) {
	provisioner, ok := pvc.Annotations[storagevolume.AnnStorageProvisioner]
	if !ok {
		provisioner = pvc.Annotations[storagevolume.AnnBetaStorageProvisioner]
	}
	if c.isNoted(&pvc.ObjectMeta, provisioner) {
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

// noteMigratedVolume does the same for a volume. C-MIG-7
func (c *Controller) noteMigratedVolume(p *kernel.Process, pv *corev1.PersistentVolume) (*corev1.PersistentVolume, error) {
	provisioner := pv.Annotations[storagevolume.AnnDynamicallyProvisioned]
	if c.isNoted(&pv.ObjectMeta, provisioner) {
		return pv, nil
	}
	changed := pv.DeepCopy()
	c.note(&changed.ObjectMeta, provisioner)
	updated, err := component.Update(p, c.Component, changed)
	if err != nil {
		return nil, fmt.Errorf("note the migration of volume %s: %w", pv.Name, err)
	}
	c.volumes.Put(updated)
	return updated, nil
}

func (c *Controller) isNoted(meta *metav1.ObjectMeta, provisioner string) bool {
	driver, _ := c.Migration.Driver(provisioner)
	return meta.Annotations[storagevolume.AnnMigratedTo] == driver
}

func (c *Controller) note(meta *metav1.ObjectMeta, provisioner string) {
	if driver, ok := c.Migration.Driver(provisioner); ok {
		metav1.SetMetaDataAnnotation(meta, storagevolume.AnnMigratedTo, driver)
	} else {
		delete(meta.Annotations, storagevolume.AnnMigratedTo)
	}
}
