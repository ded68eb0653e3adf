package kind

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func init() {
	register(Kind{
		Version: "v1", Name: "Service",
		ShortNames: []string{"svc"}, Categories: []string{"all"},
		traits: withStatus, rules: serviceRules,
		Columns: serviceColumns,
		Fields: selectable(map[string]func(*corev1.Service) string{
			"spec.clusterIP": func(s *corev1.Service) string { return s.Spec.ClusterIP },
			"spec.type":      func(s *corev1.Service) string { return string(s.Spec.Type) },
		}),
		Warnings:       fromBoth(func(s, _ *corev1.Service) []string { return serviceWarnings(s) }),
		AnswersDeleted: true,
		Subresources:   []Subresource{{Name: "proxy", Verbs: proxyVerbs, GVK: schema.GroupVersionKind{Version: "v1", Kind: "ServiceProxyOptions"}}},
	})
}

var serviceRules = rules[*corev1.Service]{
	name:            validation.NameIsDNSLabel,
	createdByUpdate: true,
	fill:            fillService,
	admit:           func(a admission, obj *corev1.Service) error { return allocate(a.cluster, obj, nil) },
	begin:           func(a admission, obj, old *corev1.Service) error { return allocate(a.cluster, obj, old) },
	prepare:         dropUnused,
	validate:        func(obj *corev1.Service) field.ErrorList { return checkService(obj, nil) },
	validateUpdate: func(now, was *corev1.Service) field.ErrorList {
		return append(checkServiceChange(now, was), checkService(now, was)...)
	},
	readsAnnotations: true,
	validateStatus: func(obj, old *corev1.Service) field.ErrorList {
		return balancerStatus(obj, &old.Status.LoadBalancer)
	},
	quota: &serviceQuota,
}

// fillService sets the defaults of a service that are the same in all clusters.
func fillService(service *corev1.Service) {
	spec := &service.Spec
	setEmpty(&spec.Type, corev1.ServiceTypeClusterIP)
	setEmpty(&spec.SessionAffinity, corev1.ServiceAffinityNone)
	fillAffinity(spec)
	for i := range spec.Ports {
		port := &spec.Ports[i]
		setEmpty(&port.Protocol, corev1.ProtocolTCP)
		if port.TargetPort == intstr.FromInt32(0) || port.TargetPort == intstr.FromString("") {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
	if isReachable(spec) {
		setEmpty(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	switch spec.Type {
	case corev1.ServiceTypeLoadBalancer:
		setDefault(&spec.AllocateLoadBalancerNodePorts, true)
		for i := range service.Status.LoadBalancer.Ingress {
			if ingress := &service.Status.LoadBalancer.Ingress[i]; ingress.IP != "" {
				setDefault(&ingress.IPMode, corev1.LoadBalancerIPModeVIP)
			}
		}
		setDefault(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		setDefault(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
}

func fillAffinity(spec *corev1.ServiceSpec) {
	config := spec.SessionAffinityConfig
	switch {
	case spec.SessionAffinity == corev1.ServiceAffinityNone:
		spec.SessionAffinityConfig = nil
	case spec.SessionAffinity == corev1.ServiceAffinityClientIP && (config == nil || config.ClientIP == nil || config.ClientIP.TimeoutSeconds == nil):
		life := corev1.DefaultClientIPServiceAffinitySeconds
		spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &life}}
	}
}

func hasNodePorts(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeNodePort || spec.Type == corev1.ServiceTypeLoadBalancer
}

// isReachable reports whether a service can be reached from outside the cluster.
func isReachable(spec *corev1.ServiceSpec) bool {
	return hasNodePorts(spec) || spec.Type == corev1.ServiceTypeClusterIP && len(spec.ExternalIPs) > 0
}

// hasHealthCheck reports whether a load balancer checks nodes for pods of the service.
func hasHealthCheck(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeLoadBalancer && spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// isHeadless reports whether a service has no address.
func isHeadless(spec *corev1.ServiceSpec) bool {
	return len(spec.ClusterIPs) == 1 && spec.ClusterIPs[0] == corev1.ClusterIPNone
}
