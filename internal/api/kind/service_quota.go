package kind

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// serviceQuota counts services, those with a load balancer, and their ports on nodes. (kubernetes
// v1.36.3, pkg/quota/v1/evaluator/core/services.go)
var serviceQuota = evaluator[*corev1.Service]{
	limits: func(name corev1.ResourceName) bool {
		return slices.Contains([]corev1.ResourceName{
			corev1.ResourceServices, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
		}, name)
	},
	usage: func(_ time.Time, obj *corev1.Service) corev1.ResourceList {
		return serviceUsage(&obj.Spec)
	},
	grows: true,
}

func serviceUsage(spec *corev1.ServiceSpec) corev1.ResourceList {
	list := corev1.ResourceList{corev1.ResourceServices: one()}
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		list[corev1.ResourceServicesLoadBalancers] = one()
	}
	list[corev1.ResourceServicesNodePorts] = *resource.NewQuantity(int64(nodePorts(spec)), resource.DecimalSI)
	return list
}

// nodePorts returns how many node ports a service needs.
func nodePorts(spec *corev1.ServiceSpec) int {
	switch {
	case spec.Type == corev1.ServiceTypeLoadBalancer && spec.AllocateLoadBalancerNodePorts != nil && !*spec.AllocateLoadBalancerNodePorts:
		return len(slices.DeleteFunc(slices.Clone(spec.Ports), func(p corev1.ServicePort) bool { return p.NodePort == 0 }))
	case spec.Type == corev1.ServiceTypeLoadBalancer, spec.Type == corev1.ServiceTypeNodePort:
		return len(spec.Ports)
	}
	return 0
}
