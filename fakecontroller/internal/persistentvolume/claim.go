package persistentvolume

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/internal/world/volume"
)

type claim = *corev1.PersistentVolumeClaim

// syncClaim advances one claim. C-PV-10
func (c *Controller) syncClaim(p *kernel.Process, key store.Key) error {
	pvc, ok := c.claims.Get(key)
	if !ok {
		return nil
	}
	pvc, err := c.noteMigratedClaim(p, pvc)
	switch {
	case err != nil:
		return err
	case metav1.HasAnnotation(pvc.ObjectMeta, storagevolume.AnnBindCompleted):
		return c.syncBoundClaim(p, pvc)
	case pvc.Spec.VolumeName != "":
		return c.syncPreBoundClaim(p, pvc)
	default:
		return c.syncUnboundClaim(p, pvc)
	}
}

// fullyBound reports whether pods may use the claim. C-PV-24
func fullyBound(pvc claim) bool {
	return pvc.Spec.VolumeName != "" && metav1.HasAnnotation(pvc.ObjectMeta, storagevolume.AnnBindCompleted)
}

// syncUnboundClaim searches for a matching volume, or starts to provision one. C-PV-11
func (c *Controller) syncUnboundClaim(p *kernel.Process, pvc claim) error {
	delayed, err := c.bindingDelayed(pvc)
	if err != nil {
		return err
	}
	pv, err := c.findVolume(pvc, delayed)
	if err != nil {
		return err
	}
	if pv != nil {
		return c.bind(p, pv, pvc)
	}
	if !storagevolume.PersistentVolumeClaimHasClass(pvc) && c.Version.Has(version.LateDefaultClass) {
		if class := defaultClass(c.Cache); class != nil {
			return c.assignClass(p, pvc, class)
		}
	}
	switch {
	case delayed && !storagevolume.IsDelayBindingProvisioning(pvc):
		c.tellWaiting(pvc)
	case storagevolume.GetPersistentVolumeClaimClass(pvc) != "":
		c.provision(pvc)
		return nil
	default:
		c.Event(pvc, corev1.EventTypeNormal, "FailedBinding", "no persistent volumes available for this claim and no storage class is set")
	}
	return c.setPhase(p, pvc, corev1.ClaimPending)
}

// bindingDelayed reports whether the scheduler decides when to bind the claim.
func (c *Controller) bindingDelayed(pvc claim) (bool, error) {
	name := storagevolume.GetPersistentVolumeClaimClass(pvc)
	class, ok := component.Cached[*storagev1.StorageClass](c.Component, store.Key{Name: name})
	if name == "" || !ok {
		return false, nil
	}
	if class.VolumeBindingMode == nil {
		return false, fmt.Errorf("VolumeBindingMode not set for StorageClass %q", name)
	}
	return *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer, nil
}

// tellWaiting emits an event with the reason why a claim waits, if the scheduler decides about its
// binding.
func (c *Controller) tellWaiting(pvc claim) {
	switch pods := c.unscheduledPods(pvc); len(pods) {
	case 0:
		c.Event(pvc, corev1.EventTypeNormal, "WaitForFirstConsumer", "waiting for first consumer to be created before binding")
	case 1:
		c.Event(pvc, corev1.EventTypeNormal, "WaitForPodScheduled", "waiting for pod %s to be scheduled", pods[0])
	default:
		c.Event(pvc, corev1.EventTypeNormal, "WaitForPodScheduled", "waiting for pods %s to be scheduled", strings.Join(pods, ","))
	}
}

func (c *Controller) unscheduledPods(pvc claim) []string {
	var names []string
	for pod := range store.Indexed[*corev1.Pod](c.Cache, kind.PodsByClaim, store.KeyOf(pvc).String()) {
		if pod.Spec.NodeName == "" && !volume.Terminated(pod) {
			names = append(names, pod.Name)
		}
	}
	return names
}

// defaultClass returns the newest class annotated as the default. Among equally new classes, it is
// the first by name. C-PV-11
func defaultClass(cache store.Reader) *storagev1.StorageClass {
	var newest *storagev1.StorageClass
	for class := range store.List[*storagev1.StorageClass](cache, "") {
		marked := class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
			class.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
		if marked && (newest == nil || newest.CreationTimestamp.Before(&class.CreationTimestamp)) {
			newest = class
		}
	}
	return newest
}

// assignClass writes the default class into a claim without a class; the change queues the claim
// again.
func (c *Controller) assignClass(p *kernel.Process, pvc claim, class *storagev1.StorageClass) error {
	changed := store.Fork(pvc)
	changed.Spec.StorageClassName = &class.Name
	updated, err := component.Update(p, c.Component, changed)
	if err != nil {
		return fmt.Errorf("assign class %s to claim %s: %w", class.Name, store.KeyOf(pvc), err)
	}
	c.claims.Put(updated)
	return nil
}

// syncPreBoundClaim binds a claim that names its volume. C-PV-12
func (c *Controller) syncPreBoundClaim(p *kernel.Process, pvc claim) error {
	name := pvc.Spec.VolumeName
	pv, ok := c.volumes.Get(store.Key{Name: name})
	switch {
	case !ok:
		return c.setPhase(p, pvc, corev1.ClaimPending)
	case storagevolume.IsVolumeBoundToClaim(pv, pvc):
		return c.bind(p, pv, pvc)
	case pv.Spec.ClaimRef == nil:
		if mismatch := unsuitable(pv, pvc); mismatch != "" {
			c.Event(pvc, corev1.EventTypeWarning, "VolumeMismatch", "Cannot bind to requested volume %q: %s", name, mismatch)
			return c.setPhase(p, pvc, corev1.ClaimPending)
		}
		return c.bind(p, pv, pvc)
	case !metav1.HasAnnotation(pvc.ObjectMeta, storagevolume.AnnBoundByController):
		c.Event(pvc, corev1.EventTypeWarning, "FailedBinding", "volume %q already bound to a different claim.", name)
		return c.setPhase(p, pvc, corev1.ClaimPending)
	default:
		c.Event(pvc, corev1.EventTypeWarning, "FailedBinding", "volume %q already bound to a different claim.", name)
		return fmt.Errorf("claim %s names volume %q, which belongs to claim %s/%s", store.KeyOf(pvc), name, pv.Spec.ClaimRef.Namespace, pv.Spec.ClaimRef.Name)
	}
}

// syncBoundClaim maintains a binding, or detects that it is lost. C-PV-13
func (c *Controller) syncBoundClaim(p *kernel.Process, pvc claim) error {
	if pvc.Spec.VolumeName == "" {
		return c.lose(p, pvc, "ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!")
	}
	pv, ok := c.volumes.Get(store.Key{Name: pvc.Spec.VolumeName})
	switch {
	case !ok:
		return c.lose(p, pvc, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!")
	case pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.UID == pvc.UID:
		return c.bind(p, pv, pvc)
	default:
		return c.lose(p, pvc, "ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly")
	}
}
