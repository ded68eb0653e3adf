package attachdetach

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// podChanged: C-ADC-10
func (c *Controller) podChanged(pod *corev1.Pod) {
	switch {
	case pod.Spec.NodeName == "" || len(pod.Spec.Volumes) == 0:
	case volume.Terminated(pod):
		c.removePod(pod)
	default:
		c.addPod(pod)
	}
}

func (c *Controller) podDeleted(pod *corev1.Pod) {
	if pod.Spec.NodeName != "" && len(pod.Spec.Volumes) > 0 {
		c.removePod(pod)
	}
}

// syncClaim processes the pods of a claim again once the claim is bound. C-ADC-12
func (c *Controller) syncClaim(_ *kernel.Process, key store.Key) error {
	claim, ok := component.Cached[*corev1.PersistentVolumeClaim](c.Component, key)
	if !ok || !isBound(claim) {
		return nil
	}
	for pod := range store.Indexed[*corev1.Pod](c.Cache, kind.PodsByClaim, key.String()) {
		if pod.Spec.NodeName != "" && !volume.Terminated(pod) {
			c.addPod(pod)
		}
	}
	return nil
}

// addPod enters the pod's volumes as desired on its node. The populator adds volumes that cannot be
// known yet. C-ADC-11
func (c *Controller) addPod(pod *corev1.Pod) {
	if !c.desired.manages(pod.Spec.NodeName) {
		c.postpone(pod)
		return
	}
	specs, complete := c.volumesOf(pod)
	for _, s := range specs {
		if c.desired.add(s, pod) {
			c.mark(pair{s.unique(), pod.Spec.NodeName})
		}
	}
	if complete {
		delete(c.backlog.unresolved, store.KeyOf(pod))
	} else {
		c.postpone(pod)
	}
}

// removePod removes the pod's volumes. They are looked up again, so the populator removes volumes
// that are no longer known. C-ADC-14
func (c *Controller) removePod(pod *corev1.Pod) {
	delete(c.backlog.unresolved, store.KeyOf(pod))
	if c.desired.byPod[pod.UID] == nil {
		return
	}
	specs, _ := c.volumesOf(pod)
	for _, s := range specs {
		c.removeVolume(s.unique(), pod)
	}
	if c.desired.byPod[pod.UID] != nil {
		c.leaveOver(pod)
	}
}

func (c *Controller) removeVolume(name string, pod *corev1.Pod) {
	if at, last := c.desired.remove(name, pod.UID); last {
		c.mark(at)
	}
}

// volumesOf returns the attachable volumes of a pod. It is incomplete if a claim is unknown,
// unbound, or bound to another volume, or if a node has not reported the plugin for a volume yet.
// C-ADC-11, C-MIG-3
func (c *Controller) volumesOf(pod *corev1.Pod) (specs []*spec, complete bool) {
	complete = true
	take := func(s *spec) {
		wanted, known := c.desires(s, pod.Spec.NodeName)
		if wanted {
			specs = append(specs, s)
		}
		complete = complete && known
	}
	for i := range pod.Spec.Volumes {
		key, ephemeral, ok := volume.ClaimOf(pod, &pod.Spec.Volumes[i])
		if !ok {
			if s := c.inline(pod, &pod.Spec.Volumes[i]); s != nil {
				take(s)
			}
			continue
		}
		pv := c.boundVolume(pod, key, ephemeral)
		if pv == nil {
			complete = false
			continue
		}
		if s, ok := c.attachable(pv); ok {
			take(s)
		}
	}
	return specs, complete
}

// inline returns an inline volume of a migrated plugin in the pod; nil for other volumes. Inline
// CSI volumes are never attached. C-MIG-6, C-GEN-11
func (c *Controller) inline(pod *corev1.Pod, v *corev1.Volume) *spec {
	pv, ok, err := c.Migration.Inline(v, pod.Namespace)
	if !ok || err != nil {
		return nil
	}
	s, ok := c.attachable(pv)
	if !ok {
		return nil
	}
	s.inline = true
	s.plugin, _ = migration.InlinePlugin(v)
	return s
}

func (c *Controller) boundVolume(pod *corev1.Pod, key store.Key, ephemeral bool) *corev1.PersistentVolume {
	claim, ok := component.Cached[*corev1.PersistentVolumeClaim](c.Component, key)
	if !ok || !isBound(claim) || (ephemeral && !metav1.IsControlledBy(claim, pod)) {
		return nil
	}
	pv, ok := component.Cached[*corev1.PersistentVolume](c.Component, store.Key{Name: claim.Spec.VolumeName})
	if !ok || pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.UID != claim.UID {
		return nil
	}
	return pv
}

func isBound(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Status.Phase == corev1.ClaimBound && claim.Spec.VolumeName != ""
}
