package kind

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// keepAllocated keeps a service's allocated addresses and ports if an update omits them.
func keepAllocated(spec, old *corev1.ServiceSpec) {
	if spec.Type != corev1.ServiceTypeExternalName && old.Type != corev1.ServiceTypeExternalName {
		setEmpty(&spec.ClusterIP, old.ClusterIP)
		if len(spec.ClusterIPs) == 0 {
			spec.ClusterIPs = old.ClusterIPs
		}
	}
	if hasNodePorts(spec) && hasNodePorts(old) {
		keepNodePorts(spec.Ports, old.Ports)
	}
	if hasHealthCheck(spec) && hasHealthCheck(old) && spec.HealthCheckNodePort == 0 {
		spec.HealthCheckNodePort = old.HealthCheckNodePort
	}
}

// keepNodePorts keeps the node port of the old port with the same name, unless another port has
// that node port.
func keepNodePorts(ports, old []corev1.ServicePort) {
	byName, used := map[string]int32{}, map[int32]bool{}
	for _, was := range old {
		byName[was.Name] = was.NodePort
		used[was.NodePort] = hasNodePort(ports, was.NodePort)
	}
	for i := range ports {
		if port := &ports[i]; port.NodePort == 0 && !used[byName[port.Name]] {
			port.NodePort = byName[port.Name]
		}
	}
}

// dropUnused clears fields that the new type of a service does not use. If the update changes them,
// it is rejected instead.
func dropUnused(service, old *corev1.Service) {
	spec, was := &service.Spec, &old.Spec
	if spec.Type == corev1.ServiceTypeExternalName && was.Type != spec.Type {
		dropAddresses(spec, was)
	}
	isNew := func(p corev1.ServicePort) bool { return p.NodePort != 0 && !hasNodePort(was.Ports, p.NodePort) }
	if hasNodePorts(was) && !hasNodePorts(spec) && !slices.ContainsFunc(spec.Ports, isNew) {
		for i := range spec.Ports {
			spec.Ports[i].NodePort = 0
		}
	}
	if hasHealthCheck(was) && !hasHealthCheck(spec) && spec.HealthCheckNodePort == was.HealthCheckNodePort {
		spec.HealthCheckNodePort = 0
	}
	if was.Type == corev1.ServiceTypeLoadBalancer && spec.Type != was.Type {
		drop(&spec.AllocateLoadBalancerNodePorts, was.AllocateLoadBalancerNodePorts)
		drop(&spec.LoadBalancerClass, was.LoadBalancerClass)
	}
	if isReachable(was) && !isReachable(spec) && spec.ExternalTrafficPolicy == was.ExternalTrafficPolicy {
		spec.ExternalTrafficPolicy = ""
	}
	if spec.Type != corev1.ServiceTypeLoadBalancer {
		service.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	}
}

func dropAddresses(spec, was *corev1.ServiceSpec) {
	if spec.ClusterIP == was.ClusterIP && slices.Equal(spec.ClusterIPs, was.ClusterIPs) {
		spec.ClusterIP, spec.ClusterIPs = "", nil
	}
	if slices.Equal(spec.IPFamilies, was.IPFamilies) {
		spec.IPFamilies = nil
	}
	drop(&spec.IPFamilyPolicy, was.IPFamilyPolicy)
}

// drop clears an unchanged field.
func drop[T comparable](at **T, was *T) {
	if *at != nil && was != nil && **at == *was {
		*at = nil
	}
}

func checkServiceChange(service, old *corev1.Service) field.ErrorList {
	now, was := &service.Spec, &old.Spec
	var errs field.ErrorList
	if now.Type != corev1.ServiceTypeExternalName && was.Type != corev1.ServiceTypeExternalName {
		errs = append(addressesChange(now, was), familiesChange(now, was)...)
	}
	if now.Type == corev1.ServiceTypeLoadBalancer && was.Type == now.Type && !equality.Semantic.DeepEqual(now.LoadBalancerClass, was.LoadBalancerClass) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "loadBalancerClass"), now.LoadBalancerClass, "may not change once set"))
	}
	errs = append(errs, balancerClass(now)...)
	if hasHealthCheck(now) && hasHealthCheck(was) && now.HealthCheckNodePort != was.HealthCheckNodePort {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "healthCheckNodePort"), "field is immutable"))
	}
	return errs
}

// addressesChange permits adding and removing the second address of a service, but not changing the
// first.
func addressesChange(now, was *corev1.ServiceSpec) (errs field.ErrorList) {
	if isHeadless(now) && isHeadless(was) {
		return nil
	}
	changed := func(i int) {
		errs = append(errs, field.Invalid(addressesPath.Index(i), now.ClusterIPs, "may not change once set"))
	}
	if len(now.ClusterIPs) == len(was.ClusterIPs) {
		for i, address := range was.ClusterIPs {
			if address != now.ClusterIPs[i] {
				changed(i)
			}
		}
		return errs
	}
	fewer := len(now.ClusterIPs) < len(was.ClusterIPs)
	if fewer && len(now.ClusterIPs) == 0 {
		errs = append(errs, field.Invalid(addressesPath.Index(0), now.ClusterIPs, "primary clusterIP can not be unset"))
	}
	if len(now.ClusterIPs) > 0 && len(was.ClusterIPs) > 0 && now.ClusterIPs[0] != was.ClusterIPs[0] {
		changed(0)
	}
	if fewer && len(now.ClusterIPs) == 1 && !isSingleStack(now) {
		errs = append(errs, field.Invalid(policyPath, now.IPFamilyPolicy, "must be set to 'SingleStack' when releasing the secondary clusterIP"))
	}
	return errs
}

func isSingleStack(spec *corev1.ServiceSpec) bool {
	return spec.IPFamilyPolicy != nil && *spec.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack
}

// familiesChange rejects a change of the first family of a service with an address. In each error,
// the real server names the first family, and quotes addresses instead of families.
func familiesChange(now, was *corev1.ServiceSpec) (errs field.ErrorList) {
	if isHeadless(now) || isHeadless(was) {
		return nil
	}
	first := familiesPath.Index(0)
	if len(now.IPFamilies) == len(was.IPFamilies) {
		for i, family := range was.IPFamilies {
			if family != now.IPFamilies[i] {
				errs = append(errs, field.Invalid(first, now.IPFamilies, "may not change once set"))
			}
		}
		return errs
	}
	fewer := len(now.IPFamilies) < len(was.IPFamilies)
	if fewer && len(now.ClusterIPs) == 0 {
		errs = append(errs, field.Invalid(first, now.IPFamilies, "primary ipFamily can not be unset"))
	}
	if len(now.IPFamilies) > 0 && len(was.IPFamilies) > 0 && now.IPFamilies[0] != was.IPFamilies[0] {
		errs = append(errs, field.Invalid(first, now.ClusterIPs, "may not change once set"))
	}
	if fewer && len(now.IPFamilies) == 1 && !isSingleStack(now) {
		errs = append(errs, field.Invalid(policyPath, now.IPFamilyPolicy, "must be set to 'SingleStack' when releasing the secondary ipFamily"))
	}
	return errs
}
