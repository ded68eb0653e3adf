package volume

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
)

// OfDriver is a volume of a pod that a driver publishes.
type OfDriver struct {
	// Name is the name of its PersistentVolume; for an inline volume, its name in the pod.
	Name           string
	Driver, Handle string
	// Block means that it is a device. ReadOnly means that the pod requests it as read-only.
	Block, ReadOnly bool
}

// OfPod returns the driver's view of a pod's volume. It is false for volumes without a CSI driver,
// and for a claim without a volume.
func OfPod(s *store.Store, pod *corev1.Pod, v *corev1.Volume) (OfDriver, bool) {
	if v.CSI != nil {
		return OfDriver{Name: v.Name, Driver: v.CSI.Driver, Handle: InlineHandle(pod.UID, v.Name), ReadOnly: v.CSI.ReadOnly != nil && *v.CSI.ReadOnly}, true
	}
	key, _, ok := ClaimOf(pod, v)
	if !ok {
		return OfDriver{}, false
	}
	claim, _ := store.Get[*corev1.PersistentVolumeClaim](s, key)
	if claim == nil || claim.Spec.VolumeName == "" {
		return OfDriver{}, false
	}
	// K-DSW-7, K-DSW-9
	of := OfDriver{Name: claim.Spec.VolumeName, Block: IsBlock(claim.Spec.VolumeMode), ReadOnly: v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ReadOnly}
	if pv, _ := store.Get[*corev1.PersistentVolume](s, store.Key{Name: of.Name}); pv != nil {
		of.Driver, of.Handle = handleOf(pv)
	}
	return of, true
}

// handleOf returns the driver and handle of a PersistentVolume; empty if it has no driver.
func handleOf(pv *corev1.PersistentVolume) (driver, handle string) {
	if translated, err := migration.PV(pv); err == nil && translated.Spec.CSI != nil {
		return translated.Spec.CSI.Driver, translated.Spec.CSI.VolumeHandle
	}
	return "", ""
}

// namedOf returns the volume with a name in a pod.
func namedOf(s *store.Store, pod *corev1.Pod, name string) (OfDriver, bool) {
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.Name == name {
			return OfPod(s, pod, v)
		}
	}
	return OfDriver{}, false
}

// IsWritten reports whether some container in a pod's manifest may write to a volume.
func IsWritten(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers), func(c corev1.Container) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == name && !m.ReadOnly }) ||
			slices.ContainsFunc(c.VolumeDevices, func(d corev1.VolumeDevice) bool { return d.Name == name })
	})
}

// IsPropagated reports whether later mounts on a volume appear in all of a pod's containers that
// mount it.
func IsPropagated(pod *corev1.Pod, name string) bool {
	return !slices.ContainsFunc(slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers), func(c corev1.Container) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
			return m.Name == name && (m.MountPropagation == nil || *m.MountPropagation == corev1.MountPropagationNone)
		})
	})
}
