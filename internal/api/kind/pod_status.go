package kind

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

func podConditions(conditions []corev1.PodCondition) (errs field.ErrorList) {
	for i, c := range conditions {
		at := field.NewPath("status", "conditions").Index(i)
		errs = append(errs, wholeNumber(at.Child("observedGeneration"), c.ObservedGeneration)...)
		if c.Type != corev1.PodScheduled && c.Type != corev1.PodReady && c.Type != corev1.PodInitialized {
			errs = append(errs, qualifiedName(at.Child("Type"), string(c.Type))...)
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

// podAddresses checks the addresses of a pod and of its node; what was there before stays valid.
func podAddresses(now, was *corev1.PodStatus) field.ErrorList {
	pods, before := make([]string, len(now.PodIPs)), make([]string, len(was.PodIPs))
	for i, ip := range now.PodIPs {
		pods[i] = ip.IP
	}
	for i, ip := range was.PodIPs {
		before[i] = ip.IP
	}
	errs := addressPair(field.NewPath("status", "podIPs"), pods, before, now.PodIPs)
	if len(now.HostIPs) == 0 {
		return errs
	}
	at, hosts := field.NewPath("status", "hostIPs"), make([]string, len(now.HostIPs))
	for i, ip := range now.HostIPs {
		hosts[i] = ip.IP
	}
	before = make([]string, len(was.HostIPs))
	for i, ip := range was.HostIPs {
		before[i] = ip.IP
	}
	if now.HostIP != hosts[0] {
		errs = append(errs, field.Invalid(at.Index(0).Child("ip"), hosts[0], "must be equal to `hostIP`"))
	}
	return append(errs, addressPair(at, hosts, before, now.HostIPs)...)
}

// addressPair checks that addresses are one of each family at most.
func addressPair(at *field.Path, addresses, before []string, quoted any) (errs field.ErrorList) {
	for i, address := range addresses {
		errs = append(errs, utilvalidation.IsValidIPForLegacyField(at.Index(i), address, true, before)...)
	}
	if len(addresses) < 2 {
		return errs
	}
	both, err := netutils.IsDualStackIPStrings(addresses)
	if err != nil {
		errs = append(errs, field.InternalError(at, fmt.Errorf("failed to check for dual stack with error:%w", err)))
	}
	if !both || len(addresses) > 2 {
		errs = append(errs, field.Invalid(at, goNames{quoted}, "may specify no more than one IP for each IP family"))
	}
	return errs
}
