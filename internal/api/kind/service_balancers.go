package kind

import (
	"net"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// sourceRanges checks the permitted clients of a load balancer, in the field or in its predecessor,
// an annotation. Unchanged values stay valid.
func sourceRanges(service, old *corev1.Service) (errs field.ErrorList) {
	annotation, annotated := service.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey]
	ranges, at, before := service.Spec.LoadBalancerSourceRanges, field.NewPath("spec", "LoadBalancerSourceRanges"), []string(nil)
	fromField := len(ranges) > 0
	switch {
	case fromField:
		if old != nil {
			before = trimmed(old.Spec.LoadBalancerSourceRanges)
		}
	case annotated:
		at = metadataPath.Child("annotations").Key(corev1.AnnotationLoadBalancerSourceRangesKey)
		if text := strings.TrimSpace(annotation); text != "" && (old == nil || old.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey] != annotation) {
			ranges = strings.Split(text, ",")
		}
	default:
		return nil
	}
	if service.Spec.Type != corev1.ServiceTypeLoadBalancer {
		errs = append(errs, field.Forbidden(at, onlyOfBalancers))
	}
	for i, r := range trimmed(ranges) {
		where := at
		if fromField {
			where = at.Index(i)
		}
		errs = append(errs, utilvalidation.IsValidCIDRForLegacyField(where, r, true, before)...)
	}
	return errs
}

func trimmed(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, strings.TrimSpace(text))
	}
	return all
}

func balancerClass(spec *corev1.ServiceSpec) field.ErrorList {
	at := field.NewPath("spec", "loadBalancerClass")
	switch class := spec.LoadBalancerClass; {
	case class == nil:
		return nil
	case spec.Type != corev1.ServiceTypeLoadBalancer:
		return field.ErrorList{field.Forbidden(at, onlyOfBalancers)}
	default:
		return qualifiedName(at, *class)
	}
}

// trafficPolicies checks the nodes and pods that serve traffic.
func trafficPolicies(spec *corev1.ServiceSpec, at *field.Path) (errs field.ErrorList) {
	switch policy, at := spec.ExternalTrafficPolicy, at.Child("externalTrafficPolicy"); {
	case isReachable(spec):
		errs = append(errs, oneOf(at, policy, corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)...)
	case policy != "":
		errs = append(errs, field.Invalid(at, policy, "may only be set for externally-accessible services"))
	}
	switch port, at := spec.HealthCheckNodePort, at.Child("healthCheckNodePort"); {
	case hasHealthCheck(spec):
		errs = append(errs, invalid(at, port, utilvalidation.IsValidPortNum(int(port)))...)
	case port != 0:
		errs = append(errs, field.Invalid(at, port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"))
	}
	if policy := spec.InternalTrafficPolicy; policy != nil {
		errs = append(errs, oneOf(at.Child("internalTrafficPolicy"), *policy, corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)...)
	}
	if to := spec.TrafficDistribution; to != nil {
		errs = append(errs, oneOf(at.Child("trafficDistribution"), *to, corev1.ServiceTrafficDistributionPreferClose,
			corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode)...)
	}
	return errs
}

// balancerStatus checks the addresses of a load balancer; old ones stay valid.
func balancerStatus(service *corev1.Service, old *corev1.LoadBalancerStatus) (errs field.ErrorList) {
	at, ingress := field.NewPath("status", "loadBalancer", "ingress"), service.Status.LoadBalancer.Ingress
	if len(ingress) > 0 && service.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return field.ErrorList{field.Forbidden(at, "may only be used when `spec.type` is 'LoadBalancer'")}
	}
	var before []string
	for _, was := range old.Ingress {
		if was.IP != "" {
			before = append(before, was.IP)
		}
	}
	for i, balancer := range ingress {
		errs = append(errs, balancerIngress(balancer, before, at.Index(i))...)
	}
	return errs
}

func balancerIngress(balancer corev1.LoadBalancerIngress, before []string, at *field.Path) (errs field.ErrorList) {
	if balancer.IP != "" {
		errs = append(errs, utilvalidation.IsValidIPForLegacyField(at.Child("ip"), balancer.IP, true, before)...)
	}
	switch mode, at := balancer.IPMode, at.Child("ipMode"); {
	case mode == nil && balancer.IP != "":
		errs = append(errs, field.Required(at, "must be specified when `ip` is set"))
	case mode != nil && balancer.IP == "":
		errs = append(errs, field.Forbidden(at, "may not be specified when `ip` is not set"))
	case mode != nil:
		errs = append(errs, oneOf(at, *mode, corev1.LoadBalancerIPModeProxy, corev1.LoadBalancerIPModeVIP)...)
	}
	if name := balancer.Hostname; name != "" {
		errs = append(errs, subdomain(at.Child("hostname"), name)...)
		if net.ParseIP(name) != nil {
			errs = append(errs, field.Invalid(at.Child("hostname"), name, "must be a DNS name, not an IP address"))
		}
	}
	return errs
}
