package kind

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func sizeWarnings(spec *field.Path, claim *corev1.PersistentVolumeClaimSpec) []string {
	return append(fractionWarning(spec.Child("resources", "requests").Key("storage"), claim.Resources.Requests, corev1.ResourceStorage),
		fractionWarning(spec.Child("resources", "limits").Key("storage"), claim.Resources.Limits, corev1.ResourceStorage)...)
}

func fractionWarning(path *field.Path, sizes corev1.ResourceList, name corev1.ResourceName) []string {
	size, ok := sizes[name]
	if !ok || size.MilliValue()%1000 == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", path, size.String())}
}
