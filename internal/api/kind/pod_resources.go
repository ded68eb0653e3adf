package kind

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Resource names without a domain: of containers (except for huge pages), of countable resources,
// and of quotas.
var (
	containerResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	countedResources   = []corev1.ResourceName{
		corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers, corev1.ResourceSecrets,
		corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
	}
	quotaResources = []corev1.ResourceName{
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage, corev1.ResourceLimitsCPU,
		corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage, corev1.ResourceStorage, corev1.ResourceRequestsStorage,
	}
)

func isStandard(name corev1.ResourceName) bool {
	return isHugePages(name) || slices.Contains(containerResources, name) || slices.Contains(countedResources, name) || slices.Contains(quotaResources, name)
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// isNative reports whether Kubernetes itself defines a resource.
func isNative(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// isOvercommitted reports whether a request may be less than the limit.
func isOvercommitted(name corev1.ResourceName) bool { return isNative(name) && !isHugePages(name) }

func containerResourceName(at *field.Path, name corev1.ResourceName) field.ErrorList {
	errs := resourceName(at, name)
	qualified := strings.Contains(string(name), "/")
	switch {
	case !qualified && !slices.Contains(containerResources, name) && !isHugePages(name):
		errs = append(errs, field.Invalid(at, name, "must be a standard resource for containers"))
	case qualified && !isNative(name) && !isExtended(name):
		errs = append(errs, field.Invalid(at, name, "doesn't follow extended resource name standard"))
	}
	return errs
}

// isExtended reports whether a resource is an extended one. Its name must also be valid with the
// prefix of quotas.
func isExtended(name corev1.ResourceName) bool {
	const prefix = corev1.DefaultResourceRequestsPrefix
	return !isNative(name) && !strings.HasPrefix(string(name), prefix) && len(utilvalidation.IsQualifiedName(prefix+string(name))) == 0
}

func resourceName(at *field.Path, name corev1.ResourceName) field.ErrorList {
	errs := invalid(at, name, utilvalidation.IsQualifiedName(string(name)))
	if len(errs) == 0 && !strings.Contains(string(name), "/") && !isStandard(name) {
		errs = append(errs, field.Invalid(at, name, "must be a standard resource type or fully qualified"))
	}
	return errs
}

// resources checks the requests and limits of a container.
func resources(at *field.Path, r *corev1.ResourceRequirements) field.ErrorList {
	return requirements(at, r, containerResourceName)
}

func requirements(at *field.Path, r *corev1.ResourceRequirements, checkName func(*field.Path, corev1.ResourceName) field.ErrorList) field.ErrorList {
	var errs field.ErrorList
	computes, huge := false, false
	look := func(at *field.Path, name corev1.ResourceName, quantity resource.Quantity) {
		errs = append(errs, checkName(at, name)...)
		errs = append(errs, resourceQuantity(at, name, quantity)...)
		computes = computes || name == corev1.ResourceCPU || name == corev1.ResourceMemory
		huge = huge || isHugePages(name)
	}
	for _, name := range sortedKeys(r.Limits) {
		look(at.Child("limits").Key(string(name)), name, r.Limits[name])
	}
	for _, name := range sortedKeys(r.Requests) {
		request := r.Requests[name]
		look(at.Child("requests").Key(string(name)), name, request)
		errs = append(errs, withinLimit(at, name, request, r.Limits)...)
	}
	if huge && !computes {
		errs = append(errs, field.Forbidden(at, "HugePages require cpu or memory"))
	}
	return errs
}

func withinLimit(at *field.Path, name corev1.ResourceName, request resource.Quantity, limits corev1.ResourceList) field.ErrorList {
	limit, limited := limits[name]
	switch {
	case !limited && !isOvercommitted(name):
		return field.ErrorList{field.Required(at.Child("limits"), "Limit must be set for non overcommitable resources")}
	case !limited:
		return nil
	case request.Cmp(limit) != 0 && !isOvercommitted(name):
		return field.ErrorList{field.Invalid(at.Child("requests"), request.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String()))}
	case request.Cmp(limit) > 0:
		return field.ErrorList{field.Invalid(at.Child("requests"), request.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String()))}
	}
	return nil
}

// resourceQuantity checks an amount: countable resources, such as extended ones, have no fractions.
func resourceQuantity(at *field.Path, name corev1.ResourceName, quantity resource.Quantity) (errs field.ErrorList) {
	if quantity.Sign() < 0 {
		errs = append(errs, field.Invalid(at, quantity.String(), "must be greater than or equal to 0"))
	}
	if (isExtended(name) || slices.Contains(countedResources, name)) && quantity.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(at, quantity, "must be an integer"))
	}
	return errs
}
