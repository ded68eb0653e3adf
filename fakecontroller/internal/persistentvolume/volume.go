package persistentvolume

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// syncVolume advances one volume. C-PV-30
func (c *Controller) syncVolume(p *kernel.Process, key store.Key) error {
	pv, ok := c.volumes.Get(key)
	if !ok {
		return nil
	}
	pv, err := c.alignVolume(p, pv)
	if err != nil {
		return err
	}
	if pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.UID == "" {
		_, err := c.setVolumePhase(p, pv, corev1.VolumeAvailable, "")
		return err
	}
	pvc, err := c.claimOf(p, pv)
	switch {
	case err != nil:
		return err
	case pvc == nil: // C-PV-32
		return c.release(p, pv)
	case pvc.Spec.VolumeName == "":
		c.bindLater(pv, pvc)
		return nil
	case pvc.Spec.VolumeName == pv.Name: // C-PV-34
		_, err := c.setVolumePhase(p, pv, corev1.VolumeBound, "")
		return err
	case provisionedForClaim(pv):
		return c.release(p, pv)
	default:
		return c.unbind(p, pv)
	}
}

// claimOf returns the claim that a volume points to; nil if the claim is deleted. Before it treats
// a claim as deleted, it reads the API, because the cache may be old. C-PV-31
func (c *Controller) claimOf(p *kernel.Process, pv *corev1.PersistentVolume) (claim, error) {
	ref := pv.Spec.ClaimRef
	key := store.Key{Namespace: ref.Namespace, Name: ref.Name}
	pvc, ok := c.claims.Get(key)
	if ok && pvc.UID == ref.UID {
		return pvc, nil
	}
	if !ok && isReleased(pv) {
		return nil, nil
	}
	pvc, err := component.Live[claim](p, c.Component, key)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case pvc.UID != ref.UID:
		return nil, nil
	}
	return pvc, nil
}

func isReleased(pv *corev1.PersistentVolume) bool {
	return pv.Status.Phase == corev1.VolumeReleased || pv.Status.Phase == corev1.VolumeFailed
}

// bindLater lets the claim's sync accept the volume. A volume that was provisioned for a claim is
// bound this way. C-PV-33
func (c *Controller) bindLater(pv *corev1.PersistentVolume, pvc claim) {
	if storagevolume.CheckVolumeModeMismatches(&pvc.Spec, &pv.Spec) {
		c.Event(pv, corev1.EventTypeWarning, "VolumeMismatch", "Cannot bind PersistentVolume to requested PersistentVolumeClaim %q due to incompatible volumeMode.", pvc.Name)
		c.Event(pvc, corev1.EventTypeWarning, "VolumeMismatch", "Cannot bind PersistentVolume %q to requested PersistentVolumeClaim due to incompatible volumeMode.", pv.Name)
		return
	}
	c.claimKeys.Add(store.KeyOf(pvc))
}

func provisionedForClaim(pv *corev1.PersistentVolume) bool {
	return metav1.HasAnnotation(pv.ObjectMeta, storagevolume.AnnDynamicallyProvisioned) &&
		pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
}

// release releases a volume after its claim was deleted, then reclaims it.
func (c *Controller) release(p *kernel.Process, pv *corev1.PersistentVolume) error {
	if !isReleased(pv) {
		released, err := c.setVolumePhase(p, pv, corev1.VolumeReleased, "")
		if err != nil {
			return err
		}
		pv = released
	}
	return c.reclaim(p, pv)
}
