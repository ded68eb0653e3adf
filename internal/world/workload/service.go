package workload

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/csisim/csisim/internal/world/store"
)

// Selects reports whether a pod belongs to a service. A service without a selector selects none,
// because its endpoints are maintained elsewhere.
func Selects(s *corev1.Service, pod *corev1.Pod) bool {
	return len(s.Spec.Selector) > 0 && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels))
}

// HasEndpoints reports whether the endpoints of a service are its pods.
func HasEndpoints(s *corev1.Service) bool {
	return len(s.Spec.Selector) > 0 && s.Spec.Type != corev1.ServiceTypeExternalName
}

// Endpoints returns the pods of a service that have an address, by name. Pods with simulated
// containers have none.
func Endpoints(cluster store.Reader, s *corev1.Service) []*corev1.Pod {
	var pods []*corev1.Pod
	for pod := range store.List[*corev1.Pod](cluster, s.Namespace) {
		if Selects(s, pod) && pod.Status.PodIP != "" && !Ended(pod) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// Serves reports whether a pod receives requests: it is ready, or the service does not require
// readiness.
func Serves(s *corev1.Service, pod *corev1.Pod) bool {
	return s.Spec.PublishNotReadyAddresses || Ready(pod) && pod.DeletionTimestamp == nil
}

// HostnameIn returns a pod's hostname within a service; nil if it has none there.
// [k8s.io/endpointslice/util/controller_utils.go: ShouldSetHostname]
func HostnameIn(s *corev1.Service, pod *corev1.Pod) *string {
	if pod.Spec.Hostname == "" || pod.Spec.Subdomain != s.Name {
		return nil
	}
	return &pod.Spec.Hostname
}

// TargetPort returns the number of a pod's port for a service port; false if the pod has no port
// with that name.
func TargetPort(port corev1.ServicePort, pod *corev1.Pod) (int32, bool) {
	if port.TargetPort.StrVal == "" {
		return port.TargetPort.IntVal, true
	}
	for i, container := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		if i >= len(pod.Spec.Containers) && !Sidecar(&container) {
			continue
		}
		for _, p := range container.Ports {
			if p.Name == port.TargetPort.StrVal && cmp.Or(p.Protocol, corev1.ProtocolTCP) == port.Protocol {
				return p.ContainerPort, true
			}
		}
	}
	return 0, false
}

// TargetRef returns the reference to a pod in an endpoint.
func TargetRef(pod *corev1.Pod) *corev1.ObjectReference {
	return &corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
}
