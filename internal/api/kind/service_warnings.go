package kind

import (
	"fmt"
	"net"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func serviceWarnings(service *corev1.Service) (texts []string) {
	spec, at := &service.Spec, field.NewPath("spec")
	warn := func(is bool, text string, args ...any) {
		if is {
			texts = append(texts, fmt.Sprintf(text, args...))
		}
	}
	_, hinted := service.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]
	warn(hinted, "annotation %s is deprecated, please use %s instead", corev1.DeprecatedAnnotationTopologyAwareHints, corev1.AnnotationTopologyMode)
	headless := spec.Type == corev1.ServiceTypeClusterIP && spec.ClusterIP == corev1.ClusterIPNone
	external := spec.Type == corev1.ServiceTypeExternalName
	if spec.ClusterIP != corev1.ClusterIPNone && spec.ClusterIP != "" {
		for i, address := range spec.ClusterIPs {
			texts = append(texts, utilvalidation.GetWarningsForIP(at.Child("clusterIPs").Index(i), address)...)
		}
	}
	warn(headless && spec.LoadBalancerIP != "", "spec.loadBalancerIP is ignored for headless services")
	warn(headless && len(spec.ExternalIPs) > 0, "spec.externalIPs is ignored for headless services")
	warn(headless && spec.SessionAffinity != corev1.ServiceAffinityNone, "spec.SessionAffinity is ignored for headless services")
	for i, address := range spec.ExternalIPs {
		texts = append(texts, utilvalidation.GetWarningsForIP(at.Child("externalIPs").Index(i), address)...)
	}
	warn(len(spec.ExternalIPs) > 0 && !headless && !external, "spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	if net.ParseIP(spec.LoadBalancerIP) != nil { // no other check covers it
		texts = append(texts, utilvalidation.GetWarningsForIP(at.Child("loadBalancerIP"), spec.LoadBalancerIP)...)
	}
	for i, r := range spec.LoadBalancerSourceRanges {
		texts = append(texts, utilvalidation.GetWarningsForCIDR(at.Child("loadBalancerSourceRanges").Index(i), r)...)
	}
	warn(external && len(spec.ExternalIPs) > 0, "spec.externalIPs is ignored when spec.type is %q", corev1.ServiceTypeExternalName)
	warn(!external && spec.ExternalName != "", "spec.externalName is ignored when spec.type is not %q", corev1.ServiceTypeExternalName)
	if to := spec.TrafficDistribution; to != nil && *to == corev1.ServiceTrafficDistributionPreferClose {
		warn(true, "spec.trafficDistribution: %q is deprecated; use %q", corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone)
	}
	return texts
}
