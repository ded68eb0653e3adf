package fakekubelet

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// field returns a field of the pod in the downward API.
func (w *podWorker) field(path string) (string, error) {
	pod := w.pod
	if name, subscript, ok := strings.Cut(strings.TrimSuffix(path, "']"), "['"); ok {
		switch name {
		case "metadata.labels":
			return pod.Labels[subscript], nil
		case "metadata.annotations":
			return pod.Annotations[subscript], nil
		}
	}
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "metadata.labels":
		return quoted(pod.Labels), nil
	case "metadata.annotations":
		return quoted(pod.Annotations), nil
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs":
		return w.options.Address, nil
	case "status.podIP", "status.podIPs":
		return w.address(), nil
	}
	return "", fmt.Errorf("unsupported fieldPath: %v", path)
}

// quoted formats labels and annotations for a file of the downward API.
func quoted(all map[string]string) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		lines = append(lines, name+"="+strconv.Quote(all[name]))
	}
	return strings.Join(lines, "\n")
}

// resourceField returns a limit or a request of a container in units of the divisor, rounded up.
func resourceField(c *corev1.Container, ref *corev1.ResourceFieldSelector) (string, error) {
	kind, name, _ := strings.Cut(ref.Resource, ".")
	list := c.Resources.Requests
	switch kind {
	case "limits":
		list = c.Resources.Limits
	case "requests":
	default:
		return "", fmt.Errorf("unsupported container resource: %v", ref.Resource)
	}
	amount := list[corev1.ResourceName(name)]
	divisor := ref.Divisor.AsApproximateFloat64()
	if divisor == 0 {
		divisor = 1
	}
	units := amount.AsApproximateFloat64() / divisor
	whole := int64(units)
	if float64(whole) < units {
		whole++
	}
	return strconv.FormatInt(whole, 10), nil
}
