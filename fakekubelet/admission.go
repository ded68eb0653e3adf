package fakekubelet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/internal/world/workload"
)

// rejection is the reason why the kubelet rejects a pod. The zero value admits the pod.
type rejection struct{ reason, message string }

// predicate returns the rejection by a check that the kubelet shares with the scheduler.
func predicate(name, why string) rejection {
	return rejection{name, "Predicate " + name + " failed: " + why}
}

// admit runs the handlers of the real kubelet in their order. K-ADM-1
func (m *podManager) admit(pod *corev1.Pod) rejection {
	if r := m.admitUnderPressure(pod); r.reason != "" {
		return r
	}
	if r := admitSysctls(&pod.Spec); r.reason != "" {
		return r
	}
	if r := m.admitByPredicates(pod); r.reason != "" {
		return r
	}
	if m.shuttingDown {
		return rejection{"NodeShutdown", "Pod was rejected as the node is shutting down."}
	}
	return rejection{}
}

// admitByPredicates compares the pod with its node and with the pods that were admitted before.
// K-ADM-2
func (m *podManager) admitByPredicates(pod *corev1.Pod) rejection {
	node, ok := m.status.node()
	if !ok {
		node = m.newNode()
	}
	switch {
	case pod.Labels[corev1.LabelOSStable] != "" && pod.Labels[corev1.LabelOSStable] != "linux":
		return rejection{"PodOSSelectorNodeLabelDoesNotMatch", "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"}
	case pod.Spec.OS != nil && pod.Spec.OS.Name != corev1.Linux:
		return rejection{"PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS"}
	}
	others := m.admitted()
	lacks, r := lackingResources(pod, others, node), m.misplaced(pod, others, node)
	switch {
	case len(lacks) == 0:
		return r
	case !isCritical(pod):
		return rejection{"OutOf" + string(lacks[0].resource), lacks[0].String()}
	case r.reason != "":
		return r
	}
	return m.preemptFor(pod, lacks) // K-ADM-4
}

// misplaced returns the first check that the pod fails regardless of free resources. K-ADM-2
func (m *podManager) misplaced(pod *corev1.Pod, others []*corev1.Pod, node *corev1.Node) rejection {
	matches, _ := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	switch {
	case !matches:
		return predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
	case hostPortTaken(pod, others):
		return predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports")
	case m.Version.Has(version.TaintAdmission) && slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoExecute && !workload.Tolerates(pod, &t)
	}):
		return predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate")
	}
	return rejection{}
}

// admitted lists the pods that use resources of the node, with their allocated resources.
func (m *podManager) admitted() (pods []*corev1.Pod) {
	for _, w := range m.inOrder() {
		if !w.stopped && w.rejected.reason == "" {
			pods = append(pods, w.sized())
		}
	}
	return pods
}

// lack is a resource with too little room for a pod on a node. Processors are counted in
// thousandths.
type lack struct {
	resource                  corev1.ResourceName
	requested, used, capacity int64
}

func (l lack) String() string {
	return fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", l.resource, l.requested, l.used, l.capacity)
}

// lackingResources lists the resources that a node lacks for a further pod. It ignores extended
// resources that the node lacks completely. K-ADM-3
func lackingResources(pod *corev1.Pod, others []*corev1.Pod, node *corev1.Node) (lacks []lack) {
	allocatable := node.Status.Allocatable
	if most := allocatable.Pods().Value(); int64(len(others))+1 > most {
		lacks = append(lacks, lack{corev1.ResourcePods, 1, int64(len(others)), most})
	}
	wants := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	for _, name := range inOrderOfChecks(wants) {
		limit, known := allocatable[name]
		if workload.IsExtendedResource(name) && !known {
			continue
		}
		l := lack{resource: name, requested: workload.AmountOf(name, wants[name]), capacity: workload.AmountOf(name, limit)}
		for _, other := range others {
			l.used += workload.AmountOf(name, resourcehelper.PodRequests(other, resourcehelper.PodResourcesOptions{})[name])
		}
		if l.requested > 0 && l.requested > l.capacity-l.used {
			lacks = append(lacks, l)
		}
	}
	return lacks
}

// inOrderOfChecks sorts the resources of a list in the order in which the kubelet checks them. The
// real kubelet processes extended resources in any order.
func inOrderOfChecks(list corev1.ResourceList) []corev1.ResourceName {
	first := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(list)), func(name corev1.ResourceName) bool { return slices.Contains(first, name) })
	return append(first, rest...)
}

// hostPortTaken reports whether another pod uses a host port that the pod's containers request.
func hostPortTaken(pod *corev1.Pod, others []*corev1.Pod) bool {
	for _, wanted := range workload.HostPorts(pod) {
		for _, other := range others {
			if slices.ContainsFunc(workload.HostPorts(other), wanted.Conflicts) {
				return true
			}
		}
	}
	return false
}

// safeSysctls are the kernel parameters that a pod may set on every node. For each it has the
// namespace that such a pod must not share with its node. [pkg/kubelet/sysctl/safe_sysctls.go]
var safeSysctls = map[string]string{
	"kernel.shm_rmid_forced": "ipc", "net.ipv4.ip_local_port_range": "net", "net.ipv4.tcp_syncookies": "net", "net.ipv4.ping_group_range": "net",
	"net.ipv4.ip_unprivileged_port_start": "net", "net.ipv4.ip_local_reserved_ports": "net", "net.ipv4.tcp_keepalive_time": "net",
	"net.ipv4.tcp_fin_timeout": "net", "net.ipv4.tcp_keepalive_intvl": "net", "net.ipv4.tcp_keepalive_probes": "net",
	"net.ipv4.tcp_rmem": "net", "net.ipv4.tcp_wmem": "net",
}

// admitSysctls rejects a pod that sets kernel parameters which are not on the list. K-ADM-5
func admitSysctls(pod *corev1.PodSpec) rejection {
	if pod.SecurityContext == nil {
		return rejection{}
	}
	for _, s := range pod.SecurityContext.Sysctls {
		name := s.Name
		if dot, slash := strings.Index(name, "."), strings.Index(name, "/"); slash >= 0 && (dot < 0 || slash < dot) {
			name = strings.NewReplacer("/", ".", ".", "/").Replace(name)
		}
		namespace, safe := safeSysctls[name]
		switch {
		case !safe:
			return rejection{"SysctlForbidden", fmt.Sprintf("forbidden sysctl: %q not allowlisted", name)}
		case namespace == "ipc" && pod.HostIPC, namespace == "net" && pod.HostNetwork:
			return rejection{"SysctlForbidden", fmt.Sprintf("forbidden sysctl: %q not allowed with host %s enabled", name, namespace)}
		}
	}
	return rejection{}
}
