package workload

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// AmountOf returns a quantity in the unit of the scheduler and the kubelet: processors in
// thousandths, all others in whole numbers.
func AmountOf(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// IsExtendedResource reports whether a vendor defines a resource. [pkg/apis/core/v1/helper
// IsExtendedResourceName]
func IsExtendedResource(name corev1.ResourceName) bool {
	native := !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
	return !native && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix)
}

// HostPort is a port of a node that a container requests.
type HostPort struct {
	ip       string
	protocol corev1.Protocol
	port     int32
}

// HostPorts lists the ports of its node that a pod requests. Ports of init containers count if
// these run beside the other containers.
func HostPorts(pod *corev1.Pod) (ports []HostPort) {
	add := func(c *corev1.Container) {
		for _, p := range c.Ports {
			if p.HostPort > 0 {
				ports = append(ports, HostPort{p.HostIP, p.Protocol, p.HostPort})
			}
		}
	}
	for i := range pod.Spec.InitContainers {
		if Sidecar(&pod.Spec.InitContainers[i]) {
			add(&pod.Spec.InitContainers[i])
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	return ports
}

// Conflicts reports whether two containers cannot both use their ports.
func (a HostPort) Conflicts(b HostPort) bool {
	everywhere := func(ip string) bool { return ip == "" || ip == "0.0.0.0" }
	return a.port == b.port && a.protocol == b.protocol && (a.ip == b.ip || everywhere(a.ip) || everywhere(b.ip))
}
