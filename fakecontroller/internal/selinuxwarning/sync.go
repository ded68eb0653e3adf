package selinuxwarning

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// sync records the volumes of a pod. If the pod has ended or is deleted, it removes them.
func (c *Controller) sync(_ *kernel.Process, key store.Key) error {
	pod, ok := component.Cached[*corev1.Pod](c.Component, key)
	if !ok || hasEnded(pod) {
		c.uses.forget(key)
		return nil
	}
	var errs []error
	for _, name := range mountedVolumes(pod) {
		errs = append(errs, c.syncVolume(pod, name))
	}
	return errors.Join(errs...)
}

func (c *Controller) syncVolume(pod *corev1.Pod, name string) error {
	at := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
	if at < 0 {
		return nil
	}
	pv, err := c.volumeOf(pod, &pod.Spec.Volumes[at])
	if pv == nil || err != nil {
		return err
	}
	found := volume.SELinuxLabels(pod, name, labelOf)
	if len(found) > 1 {
		c.Event(pod, corev1.EventTypeWarning, "MultipleSELinuxLabels", "Volume %q is mounted twice with different SELinux labels inside this pod", name)
		return fmt.Errorf("multiple SELinux labels found: %v", found)
	}
	source := pv.Spec.CSI
	use := use{policy: volume.SELinuxPolicy(pod)}
	if len(found) == 1 && use.policy != corev1.SELinuxChangePolicyRecursive && c.mountsWithLabel(source.Driver) {
		use.label = found[0]
	}
	if use.label == "" { // the container runtime labels file by file
		use.policy = corev1.SELinuxChangePolicyRecursive
	}
	c.report(c.uses.add(volume.UniqueName(source.Driver, source.VolumeHandle), source.Driver, store.KeyOf(pod), use))
	return nil
}

// volumeOf returns the CSI volume behind a pod's volume, including migrated in-tree volumes. It is
// nil for other volumes and for claims without a volume; such claims are processed again when they
// have a volume. A half-bound claim is an error, because no event reports the other half.
func (c *Controller) volumeOf(pod *corev1.Pod, v *corev1.Volume) (*corev1.PersistentVolume, error) {
	key, ephemeral, ok := volume.ClaimOf(pod, v)
	if !ok {
		pv, ok, err := c.Migration.Inline(v, pod.Namespace)
		if !ok || err != nil {
			return nil, nil
		}
		return pv, nil
	}
	claim, ok := component.Cached[*corev1.PersistentVolumeClaim](c.Component, key)
	if !ok || claim.Spec.VolumeName == "" || ephemeral && !metav1.IsControlledBy(claim, pod) {
		return nil, nil
	}
	if claim.Status.Phase != corev1.ClaimBound {
		return nil, fmt.Errorf("PVC %s is not bound", key)
	}
	pv, ok := component.Cached[*corev1.PersistentVolume](c.Component, store.Key{Name: claim.Spec.VolumeName})
	if !ok || pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.UID != claim.UID {
		return nil, fmt.Errorf("PV %s is not bound to PVC %s", claim.Spec.VolumeName, key)
	}
	pv, err := c.Migration.PV(pv)
	if err != nil || pv.Spec.CSI == nil {
		return nil, err
	}
	return pv, nil
}

// report emits the events of conflicts. It stops at the first deleted pod, because the conflict is
// over.
func (c *Controller) report(conflicts []conflict) {
	for _, conflict := range conflicts {
		pod, ok := component.Cached[*corev1.Pod](c.Component, conflict.pod)
		if !ok {
			return
		}
		c.Event(pod, corev1.EventTypeNormal, conflict.property+"Conflict", "%s", conflict.message())
	}
}

// collect returns the present conflicts, each from both sides.
func (c *Controller) collect(set func(name string, value float64, labels ...string)) {
	for _, of := range c.uses.conflicts() {
		set("selinux_warning_controller_selinux_volume_conflict", 1, "property", of.property,
			"pod1_namespace", of.pod.Namespace, "pod1_name", of.pod.Name, "pod1_value", of.value,
			"pod2_namespace", of.other.Namespace, "pod2_name", of.other.Name, "pod2_value", of.otherValue)
	}
}
