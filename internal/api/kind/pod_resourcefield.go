package kind

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// resourceFields are the requests and limits that containers can read, besides those of huge pages.
var resourceFields = []string{
	"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory",
}

// resourceField checks a request or limit of a container in an environment or a volume.
// [pkg/apis/core/validation/validation.go: validateContainerResourceFieldSelector]
func resourceField(at *field.Path, ref *corev1.ResourceFieldSelector) (errs field.ErrorList) {
	switch {
	case ref.Resource == "":
		errs = append(errs, field.Required(at.Child("resource"), ""))
	case !slices.Contains(resourceFields, ref.Resource) && !isHugePagesField(ref.Resource):
		errs = append(errs, field.NotSupported(at.Child("resource"), ref.Resource, resourceFields))
	}
	return append(errs, resourceUnit(at.Child("divisor"), ref)...)
}

func isHugePagesField(name string) bool {
	return strings.HasPrefix(name, "requests.hugepages-") || strings.HasPrefix(name, "limits.hugepages-")
}

var units = strings.Split("1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei", ", ")

// resourceUnit checks the unit of the value.
func resourceUnit(at *field.Path, ref *corev1.ResourceFieldSelector) field.ErrorList {
	if ref.Divisor.IsZero() {
		return nil
	}
	allowed, list, resource := units, strings.Join(units, ", "), "local ephemeral storage"
	switch _, name, _ := strings.Cut(ref.Resource, "."); {
	case isHugePagesField(ref.Resource):
		resource = "hugepages"
	case !slices.Contains(resourceFields, ref.Resource):
		return nil
	case name == "cpu":
		allowed, list, resource = []string{"1m", "1"}, "1m and 1", name
	case name == "memory":
		resource = name
	}
	if slices.Contains(allowed, ref.Divisor.String()) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, ref.Resource, "only divisor's values "+list+" are supported with the "+resource+" resource")}
}
