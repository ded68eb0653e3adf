package kind

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// placedPort is a port of a container with its path in the spec.
type placedPort struct {
	at *field.Path
	corev1.ContainerPort
}

func portsOf(spec *field.Path, pod *corev1.PodSpec) (all []placedPort) {
	for i := range pod.InitContainers {
		for j, port := range pod.InitContainers[i].Ports {
			all = append(all, placedPort{spec.Child("initContainers").Index(i).Child("ports").Index(j), port})
		}
	}
	for i := range pod.Containers {
		for j, port := range pod.Containers[i].Ports {
			all = append(all, placedPort{spec.Child("containers").Index(i).Child("ports").Index(j), port})
		}
	}
	return all
}

// portWarnings are about conflicting ports of containers.
func portWarnings(spec *field.Path, pod *corev1.PodSpec) (texts []string) {
	all := portsOf(spec, pod)
	for i, port := range all {
		if port.HostIP != "" && port.HostPort == 0 {
			texts = append(texts, fmt.Sprintf("%s: hostIP set without hostPort: %+v", port.at,
				struct {
					Name          string
					HostPort      int32
					ContainerPort int32
					Protocol      corev1.Protocol
					HostIP        string
				}{port.Name, port.HostPort, port.ContainerPort.ContainerPort, port.Protocol, port.HostIP}))
		}
		for _, other := range all[:i] {
			if how := clash(port.ContainerPort, other.ContainerPort); how != "" {
				texts = append(texts, fmt.Sprintf("%s: %s port definition with %s", port.at, how, other.at))
			}
		}
	}
	first := map[string]*field.Path{}
	for _, port := range all {
		if other, taken := first[port.Name]; taken {
			texts = append(texts, fmt.Sprintf("%s: duplicate port name %q with %s, services and probes that select ports by name will use %s", port.at, port.Name, other, other))
		} else if port.Name != "" {
			first[port.Name] = port.at
		}
	}
	return texts
}

// clash describes the conflict of two ports, "" if there is none.
func clash(a, b corev1.ContainerPort) string {
	switch {
	case a.ContainerPort != b.ContainerPort || a.Protocol != b.Protocol:
		return ""
	case a.HostIP == b.HostIP && a.HostPort == b.HostPort:
		return "duplicate"
	case a.HostPort == 0 || b.HostPort == 0:
		return "overlapping"
	case a.HostPort == b.HostPort && (a.HostIP == "") != (b.HostIP == ""):
		return "dangerously ambiguous"
	}
	return ""
}
