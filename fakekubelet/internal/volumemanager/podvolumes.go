package volumemanager

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// usedVolumes returns the pod volumes that some container mounts or uses as a device. K-DSW-5
func usedVolumes(pod *corev1.Pod) (mounts, devices map[string]bool) {
	mounts, devices = map[string]bool{}, map[string]bool{}
	add := func(m []corev1.VolumeMount, d []corev1.VolumeDevice) {
		for i := range m {
			mounts[m[i].Name] = true
		}
		for i := range d {
			devices[d[i].Name] = true
		}
	}
	for i := range pod.Spec.InitContainers {
		add(pod.Spec.InitContainers[i].VolumeMounts, pod.Spec.InitContainers[i].VolumeDevices)
	}
	for i := range pod.Spec.Containers {
		add(pod.Spec.Containers[i].VolumeMounts, pod.Spec.Containers[i].VolumeDevices)
	}
	for i := range pod.Spec.EphemeralContainers {
		add(pod.Spec.EphemeralContainers[i].VolumeMounts, pod.Spec.EphemeralContainers[i].VolumeDevices)
	}
	return mounts, devices
}

// spec resolves a pod volume, and returns the claim to which it is bound. For a volume that is not
// a CSI volume, it returns nil without an error.
func (po *populator) spec(p *kernel.Process, pod *corev1.Pod, v *corev1.Volume, mounted, device bool) (*csi.Spec, *corev1.PersistentVolumeClaim, error) {
	if v.CSI != nil {
		return &csi.Spec{Name: v.Name, Inline: v.CSI, ReadOnly: v.CSI.ReadOnly != nil && *v.CSI.ReadOnly}, nil, nil
	}
	switch pv, ok, err := po.migration.Inline(v, pod.Namespace); { // C-MIG-6
	case err != nil:
		return nil, nil, err
	case ok:
		return &csi.Spec{Name: pv.Name, PV: pv, Migrated: true}, nil, nil
	}
	key, ephemeral, ok := volume.ClaimOf(pod, v)
	if !ok {
		return nil, nil, nil
	}
	source, claim, err := po.claimed(p, pod, key, ephemeral)
	if err != nil {
		return nil, nil, err
	}
	pv, err := po.migration.PV(source)
	if err != nil {
		return nil, nil, err
	}
	if pv.Spec.CSI == nil {
		return nil, nil, nil
	}
	switch block := volume.IsBlock(pv.Spec.VolumeMode); { // K-DSW-8
	case block && mounted:
		return nil, nil, fmt.Errorf("volume %s has volumeMode Block, but is specified in volumeMounts", v.Name)
	case !block && device:
		return nil, nil, fmt.Errorf("volume %s has volumeMode Filesystem, but is specified in volumeDevices", v.Name)
	}
	// K-DSW-7, K-DSW-9.
	readOnly := v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ReadOnly
	return &csi.Spec{Name: pv.Name, PV: pv, ReadOnly: readOnly, Migrated: pv != source}, claim, nil
}

// claimed returns the volume of a claim, and the claim. K-DSW-6, K-DSW-7
func (po *populator) claimed(p *kernel.Process, pod *corev1.Pod, key store.Key, ephemeral bool) (*corev1.PersistentVolume, *corev1.PersistentVolumeClaim, error) {
	pvc, err := po.boundClaim(p, key)
	if err != nil {
		return nil, nil, fmt.Errorf("error processing PVC %s: %w", key, err)
	}
	if ephemeral && !metav1.IsControlledBy(pvc, pod) {
		return nil, nil, fmt.Errorf("PVC %s was not created for pod %s/%s (pod is not owner)", key, pod.Namespace, pod.Name)
	}
	pv, err := po.volumeOf(p, pvc)
	if err != nil {
		return nil, nil, fmt.Errorf("error processing PVC %s: %w", key, err)
	}
	return pv, pvc, nil
}

// boundClaim reads a claim from the API, and rejects an unbound one. K-DSW-6
func (po *populator) boundClaim(p *kernel.Process, key store.Key) (*corev1.PersistentVolumeClaim, error) {
	pvc, err := component.Live[*corev1.PersistentVolumeClaim](p, po.kubelet, key)
	switch {
	case err != nil:
		return nil, fmt.Errorf("failed to fetch PVC from API server: %w", err)
	case pvc.DeletionTimestamp != nil && !slices.Contains(pvc.Finalizers, "kubernetes.io/pvc-protection"):
		return nil, errors.New("PVC is being deleted")
	case pvc.Status.Phase != corev1.ClaimBound:
		return nil, errors.New("PVC is not bound")
	case pvc.Spec.VolumeName == "":
		return nil, errors.New("PVC has empty pvc.Spec.VolumeName")
	}
	return pvc, nil
}

// volumeOf reads a claim's volume live. K-DSW-6
func (po *populator) volumeOf(p *kernel.Process, pvc *corev1.PersistentVolumeClaim) (*corev1.PersistentVolume, error) {
	pv, err := component.Live[*corev1.PersistentVolume](p, po.kubelet, store.Key{Name: pvc.Spec.VolumeName})
	switch {
	case err != nil:
		return nil, fmt.Errorf("failed to fetch PV %s from API server: %w", pvc.Spec.VolumeName, err)
	case pv.Spec.ClaimRef == nil:
		return nil, fmt.Errorf("found PV object %s but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim", pv.Name)
	case pv.Spec.ClaimRef.UID != pvc.UID:
		return nil, fmt.Errorf("found PV object %s but its pv.Spec.ClaimRef.UID %s does not point to claim.UID %s", pv.Name, pv.Spec.ClaimRef.UID, pvc.UID)
	}
	return pv, nil
}
