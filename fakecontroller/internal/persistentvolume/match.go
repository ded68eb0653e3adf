package persistentvolume

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// findVolume returns the best existing volume for a claim; nil if there is none.
func (c *Controller) findVolume(pvc claim, delayed bool) (*corev1.PersistentVolume, error) {
	return match(pvc, c.candidates(pvc), delayed)
}

// candidates returns the volumes that point to the claim and the volumes of its class that point to
// no claim.
func (c *Controller) candidates(pvc claim) []*corev1.PersistentVolume {
	var found []*corev1.PersistentVolume
	for pv := range store.Indexed[*corev1.PersistentVolume](c.Cache, kind.VolumesByClaim, store.KeyOf(pvc).String()) {
		found = append(found, c.volumes.Newest(pv))
	}
	class := storagevolume.GetPersistentVolumeClaimClass(pvc)
	for pv := range store.Indexed[*corev1.PersistentVolume](c.Cache, kind.UnboundVolumesByClass, class) {
		found = append(found, c.volumes.Newest(pv))
	}
	return found
}

// match tries the volumes with the fewest access modes first. Among volumes with the same modes,
// the rules of C-PV-22 decide. C-PV-20
func match(pvc claim, candidates []*corev1.PersistentVolume, delayed bool) (*corev1.PersistentVolume, error) {
	for _, group := range byAccessModes(candidates) {
		if !containsAll(group[0].Spec.AccessModes, pvc.Spec.AccessModes) {
			continue
		}
		pv, err := storagevolume.FindMatchingVolume(pvc, group, nil, nil, delayed, true)
		if err != nil {
			return nil, fmt.Errorf("match volumes with claim %s: %w", store.KeyOf(pvc), err)
		}
		if pv != nil {
			return pv, nil
		}
	}
	return nil, nil
}

// byAccessModes groups volumes by their set of access modes, small sets first.
func byAccessModes(volumes []*corev1.PersistentVolume) [][]*corev1.PersistentVolume {
	var groups [][]*corev1.PersistentVolume
	for _, pv := range volumes {
		i := slices.IndexFunc(groups, func(g []*corev1.PersistentVolume) bool {
			return sameModes(g[0].Spec.AccessModes, pv.Spec.AccessModes)
		})
		if i < 0 {
			groups = append(groups, []*corev1.PersistentVolume{pv})
		} else {
			groups[i] = append(groups[i], pv)
		}
	}
	slices.SortStableFunc(groups, func(a, b []*corev1.PersistentVolume) int {
		return cmp.Compare(len(a[0].Spec.AccessModes), len(b[0].Spec.AccessModes))
	})
	return groups
}

func sameModes(a, b []corev1.PersistentVolumeAccessMode) bool {
	return containsAll(a, b) && containsAll(b, a)
}

func containsAll(have, want []corev1.PersistentVolumeAccessMode) bool {
	for _, mode := range want {
		if !slices.Contains(have, mode) {
			return false
		}
	}
	return true
}

// unsuitable returns the reason why a volume cannot serve the claim that names it; "" if it can.
// Selector and node affinity do not count here. C-PV-21
func unsuitable(pv *corev1.PersistentVolume, pvc claim) string {
	size, request := pv.Spec.Capacity.Storage(), pvc.Spec.Resources.Requests.Storage()
	switch {
	case pv.DeletionTimestamp != nil:
		return fmt.Sprintf("the volume is marked for deletion %q", pv.Name)
	case size.Cmp(*request) < 0:
		return "requested PV is too small"
	case storagevolume.GetPersistentVolumeClass(pv) != storagevolume.GetPersistentVolumeClaimClass(pvc):
		return "storageClassName does not match"
	case ptr.Deref(pv.Spec.VolumeAttributesClassName, "") != ptr.Deref(pvc.Spec.VolumeAttributesClassName, ""):
		return "volumeAttributesClassName does not match"
	case storagevolume.CheckVolumeModeMismatches(&pvc.Spec, &pv.Spec):
		return "incompatible volumeMode"
	case !containsAll(pv.Spec.AccessModes, pvc.Spec.AccessModes):
		return "incompatible accessMode"
	}
	return ""
}
