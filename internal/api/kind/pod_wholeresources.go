package kind

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcehelper "k8s.io/component-helpers/resource"
)

// fillWholePod sets the pod-level requests of a pod with pod-level limits. They are the sum over
// its containers, or otherwise the limits. For huge pages the limit is the sum over the containers.
func fillWholePod(pod *corev1.Pod) {
	whole := pod.Spec.Resources
	if whole == nil {
		return
	}
	add := func(to *corev1.ResourceList, from corev1.ResourceList, also func(corev1.ResourceName) bool) {
		for name, quantity := range from { // any order: the result is a map, too
			if _, given := (*to)[name]; given || !resourcehelper.IsSupportedPodLevelResource(name) || !also(name) {
				continue
			}
			if *to == nil {
				*to = corev1.ResourceList{}
			}
			(*to)[name] = quantity.DeepCopy()
		}
	}
	if len(whole.Limits)+len(whole.Requests) > 0 {
		add(&whole.Limits, resourcehelper.AggregateContainerLimits(pod, resourcehelper.PodResourcesOptions{}), func(name corev1.ResourceName) bool {
			_, requested := whole.Requests[name]
			return isHugePages(name) && !requested
		})
	}
	if len(whole.Limits) > 0 {
		add(&whole.Requests, resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{}), isOvercommitted)
		add(&whole.Requests, whole.Limits, every)
	}
}

// wholePodResources checks the pod-level requests, and that they cover the requests of the
// containers. [pkg/apis/core/validation/validation.go: validatePodResources]
func wholePodResources(at *field.Path, spec *corev1.PodSpec) field.ErrorList {
	whole := spec.Resources
	switch {
	case whole == nil:
		return nil
	case spec.OS != nil && spec.OS.Name == corev1.Windows:
		return field.ErrorList{field.Forbidden(at, "may not be set for a windows pod")}
	}
	var errs field.ErrorList
	if whole.Claims != nil {
		errs = append(errs, field.Forbidden(at.Child("claims"), "claims may not be set for Resources at pod-level"))
	}
	errs = append(errs, requirements(at, whole, wholePodResourceName)...)
	pod := &corev1.Pod{Spec: *spec}
	requests := resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{})
	errs = append(errs, roomFor(at.Child("requests"), whole.Requests, requests, "requests", every)...)
	limits := resourcehelper.AggregateContainerLimits(pod, resourcehelper.PodResourcesOptions{})
	errs = append(errs, roomFor(at.Child("limits"), whole.Limits, limits, "limits", isHugePages)...)
	for i := range spec.Containers {
		limits := spec.Containers[i].Resources.Limits
		for _, name := range sortedKeys(limits) {
			own := limits[name]
			if limit, given := whole.Limits[name]; given && own.Cmp(limit) > 0 {
				errs = append(errs, field.Invalid(at.Child("containers").Index(i).Key(string(name)).Child("limits"), own.String(),
					fmt.Sprintf("must be less than or equal to pod limits of %s", limit.String())))
			}
		}
	}
	return errs
}

func every(corev1.ResourceName) bool { return true }

// roomFor checks that the pod-level resources are at least the sum over its containers.
func roomFor(at *field.Path, whole, containers corev1.ResourceList, what string, counts func(corev1.ResourceName) bool) (errs field.ErrorList) {
	for _, name := range sortedKeys(containers) {
		all, given := whole[name]
		if sum := containers[name]; given && counts(name) && sum.Cmp(all) > 0 {
			errs = append(errs, field.Invalid(at.Key(string(name)), all.String(), fmt.Sprintf("must be greater than or equal to aggregate container %s of %s", what, sum.String())))
		}
	}
	return errs
}

func wholePodResourceName(at *field.Path, name corev1.ResourceName) field.ErrorList {
	if errs := resourceName(at, name); len(errs) > 0 || resourcehelper.IsSupportedPodLevelResource(name) {
		return errs
	}
	return field.ErrorList{field.NotSupported(at, name, sets.List(resourcehelper.SupportedPodLevelResources()))}
}
