package kind

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// volumeAffinity checks the nodes that can reach a volume. csisim translates a driver's topology to
// node labels here.
func volumeAffinity(path *field.Path, affinity *corev1.VolumeNodeAffinity) field.ErrorList {
	switch {
	case affinity == nil:
		return nil
	case affinity.Required == nil:
		return field.ErrorList{field.Required(path.Child("required"), "must specify required node constraints")}
	}
	return nodeSelector(path.Child("required"), affinity.Required)
}
