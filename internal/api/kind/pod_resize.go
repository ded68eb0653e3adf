package kind

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
)

// Resized returns the old pod with the given resources and resize policies, for a write of the
// resize subresource. If the containers differ, it returns the given pod, which the check rejects.
// [pkg/registry/core/pod/strategy.go: dropNonResizeUpdates]
func Resized(given, old store.Object) store.Object {
	now := typed[*corev1.Pod](given)
	pod := typed[*corev1.Pod](old).DeepCopy()
	pod.ResourceVersion, pod.UID = now.ResourceVersion, now.UID
	if len(now.Spec.Containers) != len(pod.Spec.Containers) || len(now.Spec.InitContainers) != len(pod.Spec.InitContainers) {
		return given
	}
	pod.Spec.Resources = now.Spec.Resources
	pod.Spec.Containers = withResources(pod.Spec.Containers, now.Spec.Containers)
	pod.Spec.InitContainers = withResources(pod.Spec.InitContainers, now.Spec.InitContainers)
	return pod
}

func withResources(containers, given []corev1.Container) []corev1.Container {
	for i := range given {
		if containers[i].Name != given[i].Name {
			return given
		}
		containers[i].Resources, containers[i].ResizePolicy = given[i].Resources, given[i].ResizePolicy
	}
	return containers
}

// CheckResize returns the errors of a resize: only processors and memory may change.
// [pkg/apis/core/validation: ValidatePodResize]
func CheckResize(obj, before store.Object) field.ErrorList {
	pod, old := typed[*corev1.Pod](obj), typed[*corev1.Pod](before)
	at := field.NewPath("spec")
	errs := checkPod(pod)
	switch {
	case old.Annotations[corev1.MirrorPodAnnotationKey] != "":
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods cannot be resized")}
	case old.Spec.OS != nil && old.Spec.OS.Name == corev1.Windows:
		return field.ErrorList{field.Forbidden(field.NewPath(""), "windows pods cannot be resized")}
	}
	if qosClass(old) != qosClass(pod) {
		errs = append(errs, field.Invalid(at, pod.Status.QOSClass, "Pod QOS Class may not change as a result of resizing"))
	}
	spec := pod.Spec.DeepCopy()
	errs = append(errs, resizeWhole(at, spec, &old.Spec)...)
	if others := otherContainers(at, &pod.Spec, &old.Spec); len(others) > 0 {
		return append(errs, others...)
	}
	for _, all := range []struct {
		name     string
		now, was []corev1.Container
	}{{"initContainers", pod.Spec.InitContainers, old.Spec.InitContainers}, {"containers", pod.Spec.Containers, old.Spec.Containers}} {
		for i := range all.was {
			errs = append(errs, resourcesKept(at.Child(all.name).Index(i).Child("resources"), &all.now[i].Resources, &all.was[i].Resources, "resource")...)
		}
	}
	for i := range spec.Containers {
		if spec.Containers[i].Resources = likeBefore(spec.Containers[i].Resources, old.Spec.Containers[i].Resources); !equality.Semantic.DeepEqual(spec.Containers[i], old.Spec.Containers[i]) {
			errs = append(errs, field.Forbidden(at, "only cpu and memory resources are mutable"))
		}
	}
	for i := range spec.InitContainers {
		errs = append(errs, resizeInit(at.Child("initContainers").Index(i), &spec.InitContainers[i], &old.Spec.InitContainers[i])...)
	}
	if len(errs) == 0 && !equality.Semantic.DeepEqual(*spec, old.Spec) {
		errs = append(errs, field.Forbidden(at, "only cpu and memory resources are mutable"))
	}
	return errs
}

// resizeWhole checks the pod-level resources, and resets the permitted changes.
func resizeWhole(at *field.Path, spec, old *corev1.PodSpec) (errs field.ErrorList) {
	isSet := func(r *corev1.ResourceRequirements) bool { return r != nil && len(r.Requests)+len(r.Limits) > 0 }
	switch {
	case !isSet(spec.Resources) && !isSet(old.Resources):
		return nil
	case spec.Resources == nil:
		return field.ErrorList{field.Forbidden(at.Child("resources"), "pod-level resources cannot be removed")}
	}
	was := corev1.ResourceRequirements{}
	if old.Resources != nil {
		was = *old.Resources
		errs = resourcesKept(at.Child("resources"), spec.Resources, &was, "pod-level resource")
	}
	*spec.Resources = likeBefore(*spec.Resources, was)
	if old.Resources == nil && !isSet(spec.Resources) && len(spec.Resources.Claims) == 0 {
		spec.Resources = nil
	}
	if !equality.Semantic.DeepEqual(spec.Resources, old.Resources) {
		errs = append(errs, field.Forbidden(at, "only cpu and memory resources are mutable at pod-level"))
	}
	return errs
}

func resizeInit(at *field.Path, now, was *corev1.Container) (errs field.ErrorList) {
	changed := !equality.Semantic.DeepEqual(now, was)
	if now.Resources = likeBefore(now.Resources, was.Resources); !equality.Semantic.DeepEqual(now, was) {
		errs = append(errs, field.Forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable"))
	}
	if !changed || workload.Sidecar(now) {
		return errs
	}
	for _, policy := range now.ResizePolicy {
		if policy.RestartPolicy == corev1.RestartContainer {
			errs = append(errs, field.Forbidden(at, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"))
		}
	}
	return errs
}

// otherContainers reports containers that differ from the old ones.
func otherContainers(at *field.Path, now, was *corev1.PodSpec) (errs field.ErrorList) {
	for _, all := range []struct {
		name     string
		now, was []corev1.Container
	}{{"containers", now.Containers, was.Containers}, {"initContainers", now.InitContainers, was.InitContainers}} {
		if len(all.now) != len(all.was) {
			errs = append(errs, field.Forbidden(at.Child(all.name), all.name+" may not be added or removed on resize"))
			continue
		}
		for i := range all.was {
			if all.now[i].Name != all.was[i].Name {
				errs = append(errs, field.Forbidden(at.Child(all.name).Index(i).Child("name"), all.name+" may not be renamed or reordered on resize"))
			}
		}
	}
	return errs
}

// resourcesKept checks that no request and no limit is removed.
func resourcesKept(at *field.Path, now, was *corev1.ResourceRequirements, what string) (errs field.ErrorList) {
	for _, of := range []struct {
		name     string
		now, was corev1.ResourceList
	}{{"requests", now.Requests, was.Requests}, {"limits", now.Limits, was.Limits}} {
		gone := func(name corev1.ResourceName) bool { _, kept := of.now[name]; return !kept }
		if slices.ContainsFunc(slices.Collect(maps.Keys(of.was)), gone) {
			errs = append(errs, field.Forbidden(at.Child(of.name), fmt.Sprintf("%s %s cannot be removed", what, of.name)))
		}
	}
	return errs
}

// likeBefore returns the new resources with their old cpu and memory, and without claims.
func likeBefore(now, was corev1.ResourceRequirements) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Limits: listBefore(now.Limits, was.Limits), Requests: listBefore(now.Requests, was.Requests)}
}

func listBefore(now, was corev1.ResourceList) corev1.ResourceList {
	if now == nil && was == nil {
		return nil
	}
	list := corev1.ResourceList{}
	maps.Copy(list, now)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		delete(list, name)
		if amount, set := was[name]; set {
			list[name] = amount
		}
	}
	return list
}
