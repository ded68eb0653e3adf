package kind

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

func podConditions(conditions []corev1.PodCondition) (errs field.ErrorList) {
	for i, c := range conditions {
		at := func(name string) *field.Path { return field.NewPath("status", "conditions").Index(i).Child(name) }
		if c.ObservedGeneration < 0 {
			errs = append(errs, wholeNumber(at("observedGeneration"), c.ObservedGeneration)...)
		}
		switch c.Type {
		case corev1.PodScheduled, corev1.PodInitialized, corev1.PodReadyToStartContainers, corev1.ContainersReady, corev1.PodReady:
		default:
			errs = append(errs, qualifiedName(at("Type"), string(c.Type))...)
		}
	}
	return errs
}

func wholeNumber(at *field.Path, n int64) field.ErrorList {
	if n >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, n, "must be a non-negative integer")}
}

var podIPs, hostIPs = field.NewPath("status", "podIPs"), field.NewPath("status", "hostIPs")

// podAddresses checks the addresses of a pod and of its node. Unchanged addresses stay valid.
func podAddresses(now, was *corev1.PodStatus) field.ErrorList {
	ofPod := func(ip corev1.PodIP) string { return ip.IP }
	errs := addressPair(podIPs, now.PodIPs, was.PodIPs, ofPod)
	if len(now.HostIPs) == 0 {
		return errs
	}
	if first := now.HostIPs[0].IP; now.HostIP != first {
		errs = append(errs, field.Invalid(hostIPs.Index(0).Child("ip"), first, "must be equal to `hostIP`"))
	}
	return append(errs, addressPair(hostIPs, now.HostIPs, was.HostIPs, func(ip corev1.HostIP) string { return ip.IP })...)
}

// addressPair checks that there is at most one address of each family. Unchanged addresses are not
// checked again.
func addressPair[T comparable](at *field.Path, now, was []T, address func(T) string) (errs field.ErrorList) {
	if slices.Equal(now, was) {
		return nil
	}
	textsOf := func(list []T) (texts []string) {
		for _, ip := range list {
			texts = append(texts, address(ip))
		}
		return texts
	}
	addresses, earlier := textsOf(now), textsOf(was)
	for i, ip := range addresses {
		errs = append(errs, utilvalidation.IsValidIPForLegacyField(at.Index(i), ip, true, earlier)...)
	}
	if len(addresses) < 2 {
		return errs
	}
	both, err := netutils.IsDualStackIPStrings(addresses)
	if err != nil {
		errs = append(errs, field.InternalError(at, fmt.Errorf("failed to check for dual stack with error:%w", err)))
	}
	if !both || len(addresses) > 2 {
		errs = append(errs, field.Invalid(at, goNames{now}, "may specify no more than one IP for each IP family"))
	}
	return errs
}

// containerUsers checks the users of containers.
func containerUsers(at *field.Path, statuses []corev1.ContainerStatus, os *corev1.PodOS) (errs field.ErrorList) {
	for i, s := range statuses {
		if s.User == nil || s.User.Linux == nil {
			continue
		}
		at, who := at.Index(i).Child("user", "linux"), s.User.Linux
		if os != nil && os.Name == corev1.Windows {
			errs = append(errs, field.Forbidden(at, "cannot be set for a windows pod"))
			continue
		}
		errs = append(errs, user(at.Child("uid"), &who.UID)...)
		errs = append(errs, group(at.Child("gid"), &who.GID)...)
		for g := range who.SupplementalGroups {
			errs = append(errs, group(at.Child("supplementalGroups").Index(g), &who.SupplementalGroups[g])...)
		}
	}
	return errs
}
