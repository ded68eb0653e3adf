package persistentvolume

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// annPreResize is the size of a volume before an expansion that is not in the status of its claim
// yet.
const annPreResize = "volume.alpha.kubernetes.io/pre-resize-capacity"

// setPhase writes the status of a claim without a volume. C-PV-14
func (c *Controller) setPhase(p *kernel.Process, pvc claim, phase corev1.PersistentVolumeClaimPhase) error {
	changed := store.Fork(pvc)
	changed.Status.Phase = phase
	changed.Status.AccessModes = nil
	changed.Status.Capacity = nil
	changed.Status.CurrentVolumeAttributesClassName = nil
	_, err := c.writeStatus(p, pvc, changed)
	return err
}

// setBound writes the status of a claim with its volume. C-PV-14
func (c *Controller) setBound(p *kernel.Process, pvc claim, pv *corev1.PersistentVolume) (claim, error) {
	changed := store.Fork(pvc)
	changed.Status.Phase = corev1.ClaimBound
	changed.Status.AccessModes = slices.Clone(pv.Spec.AccessModes)
	if pvc.Status.Phase != corev1.ClaimBound {
		size, err := capacityOf(pv)
		if err != nil {
			return nil, err
		}
		changed.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: size}
	}
	if pvc.Status.Phase == corev1.ClaimPending {
		changed.Status.CurrentVolumeAttributesClassName = pv.Spec.VolumeAttributesClassName
	}
	return c.writeStatus(p, pvc, changed)
}

func capacityOf(pv *corev1.PersistentVolume) (resource.Quantity, error) {
	text, ok := pv.Annotations[annPreResize]
	if !ok {
		return pv.Spec.Capacity[corev1.ResourceStorage], nil
	}
	size, err := resource.ParseQuantity(text)
	if err != nil {
		return size, fmt.Errorf("annotation %s of volume %s: %w", annPreResize, pv.Name, err)
	}
	return size, nil
}

func (c *Controller) writeStatus(p *kernel.Process, pvc, changed claim) (claim, error) {
	if equality.Semantic.DeepEqual(&pvc.Status, &changed.Status) {
		return pvc, nil
	}
	updated, err := component.UpdateStatus(p, c.Component, changed)
	if err != nil {
		return nil, fmt.Errorf("set claim %s to %s: %w", store.KeyOf(pvc), changed.Status.Phase, err)
	}
	c.claims.Put(updated)
	return updated, nil
}

// lose marks a claim as lost after its volume was deleted. It emits an event only if the phase
// changes.
func (c *Controller) lose(p *kernel.Process, pvc claim, reason, message string) error {
	before := pvc.Status.Phase
	if err := c.setPhase(p, pvc, corev1.ClaimLost); err != nil {
		return err
	}
	if before != corev1.ClaimLost {
		c.Event(pvc, corev1.EventTypeWarning, reason, "%s", message)
	}
	return nil
}

func (c *Controller) setVolumePhase(p *kernel.Process, pv *corev1.PersistentVolume, phase corev1.PersistentVolumePhase, message string) (*corev1.PersistentVolume, error) {
	if pv.Status.Phase == phase {
		return pv, nil
	}
	changed := store.Fork(pv)
	changed.Status.Phase = phase
	changed.Status.Message = message
	updated, err := component.UpdateStatus(p, c.Component, changed)
	if err != nil {
		return nil, fmt.Errorf("set volume %s to %s: %w", pv.Name, phase, err)
	}
	c.volumes.Put(updated)
	return updated, nil
}

// fail marks a volume that cannot be reclaimed. It emits an event only if the phase changes.
func (c *Controller) fail(p *kernel.Process, pv *corev1.PersistentVolume, reason, message string) error {
	before := pv.Status.Phase
	updated, err := c.setVolumePhase(p, pv, corev1.VolumeFailed, message)
	if err != nil {
		return err
	}
	if before != corev1.VolumeFailed {
		c.Event(updated, corev1.EventTypeWarning, reason, "%s", message)
	}
	return nil
}
