package persistentvolume

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// bind binds a volume and a claim in four steps. Each step is an API call, and is skipped if it is
// done already. Therefore the next sync can resume an interrupted binding. C-PV-23
func (c *Controller) bind(p *kernel.Process, pv *corev1.PersistentVolume, pvc claim) error {
	pv, err := c.pointToClaim(p, pv, pvc)
	if err != nil {
		return err
	}
	if pv, err = c.setVolumePhase(p, pv, corev1.VolumeBound, ""); err != nil {
		return err
	}
	if pvc, err = c.pointToVolume(p, pvc, pv); err != nil {
		return err
	}
	_, err = c.setBound(p, pvc, pv)
	return err
}

func (c *Controller) pointToClaim(p *kernel.Process, pv *corev1.PersistentVolume, pvc claim) (*corev1.PersistentVolume, error) {
	if ref := pv.Spec.ClaimRef; ref != nil && ref.UID == pvc.UID && ref.Name == pvc.Name && ref.Namespace == pvc.Namespace {
		return pv, nil
	}
	changed, dirty, err := storagevolume.GetBindVolumeToClaim(pv, pvc)
	if err != nil || !dirty {
		return pv, err
	}
	updated, err := component.Update(p, c.Component, changed)
	if err != nil {
		return nil, fmt.Errorf("bind volume %s to claim %s: %w", pv.Name, store.KeyOf(pvc), err)
	}
	c.volumes.Put(updated)
	return updated, nil
}

func (c *Controller) pointToVolume(p *kernel.Process, pvc claim, pv *corev1.PersistentVolume) (claim, error) {
	if fullyBound(pvc) && pvc.Spec.VolumeName == pv.Name {
		return pvc, nil
	}
	changed := store.Fork(pvc)
	if changed.Spec.VolumeName != pv.Name {
		changed.Spec.VolumeName = pv.Name
		metav1.SetMetaDataAnnotation(&changed.ObjectMeta, storagevolume.AnnBoundByController, "yes")
	}
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, storagevolume.AnnBindCompleted, "yes")
	updated, err := component.Update(p, c.Component, changed)
	if err != nil {
		return nil, fmt.Errorf("bind claim %s to volume %s: %w", store.KeyOf(pvc), pv.Name, err)
	}
	c.claims.Put(updated)
	return updated, nil
}

// unbind removes a claimRef if the claim does not point back to the volume. If the controller set
// the claimRef, it is removed completely, otherwise only its uid. C-PV-35
func (c *Controller) unbind(p *kernel.Process, pv *corev1.PersistentVolume) error {
	changed := pv.DeepCopy()
	if metav1.HasAnnotation(pv.ObjectMeta, storagevolume.AnnBoundByController) {
		changed.Spec.ClaimRef = nil
		delete(changed.Annotations, storagevolume.AnnBoundByController)
	} else {
		changed.Spec.ClaimRef.UID = ""
	}
	updated, err := component.Update(p, c.Component, changed)
	if err != nil {
		return fmt.Errorf("unbind volume %s: %w", pv.Name, err)
	}
	c.volumes.Put(updated)
	_, err = c.setVolumePhase(p, updated, corev1.VolumeAvailable, "")
	return err
}
