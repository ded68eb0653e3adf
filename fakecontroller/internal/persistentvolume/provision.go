package persistentvolume

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// provision leaves a claim to the provisioner of its class. C-PV-40
func (c *Controller) provision(pvc claim) {
	c.start("provision-"+store.KeyOf(pvc).String()+"["+string(pvc.UID)+"]", func(p *kernel.Process) error {
		name := storagevolume.GetPersistentVolumeClaimClass(pvc)
		class, ok := component.Cached[*storagev1.StorageClass](c.Component, store.Key{Name: name})
		if !ok {
			c.Event(pvc, corev1.EventTypeWarning, "ProvisioningFailed", "storageclass.storage.k8s.io %q not found", name)
			return nil
		}
		if driver, ok := c.Migration.Driver(class.Provisioner); ok {
			return c.askProvisioner(p, pvc, driver)
		}
		if inTree(class.Provisioner) {
			c.Event(pvc, corev1.EventTypeWarning, "ProvisioningFailed", "no volume plugin matched name: %s", class.Provisioner)
			return nil
		}
		return c.askProvisioner(p, pvc, class.Provisioner)
	})
}

// askProvisioner writes the name of the provisioner into an annotation of the claim, for which the
// external provisioner waits. C-PV-41
func (c *Controller) askProvisioner(p *kernel.Process, pvc claim, provisioner string) error {
	if pvc.Annotations[storagevolume.AnnStorageProvisioner] != provisioner {
		changed := store.Fork(pvc)
		metav1.SetMetaDataAnnotation(&changed.ObjectMeta, storagevolume.AnnBetaStorageProvisioner, provisioner)
		metav1.SetMetaDataAnnotation(&changed.ObjectMeta, storagevolume.AnnStorageProvisioner, provisioner)
		updated, err := component.Update(p, c.Component, changed)
		if err != nil {
			c.Event(pvc, corev1.EventTypeWarning, "ProvisioningFailed", "Error saving claim: %v", err)
			return fmt.Errorf("name provisioner %s on claim %s: %w", provisioner, store.KeyOf(pvc), err)
		}
		c.claims.Put(updated)
		pvc = updated
	}
	c.Event(pvc, corev1.EventTypeNormal, "ExternalProvisioning",
		"Waiting for a volume to be created either by the external provisioner '%s' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.", provisioner)
	return nil
}
