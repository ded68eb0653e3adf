package kind

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

var serviceColumns = []Column{
	nameColumn,
	text("Type", func(s *corev1.Service) string { return string(s.Spec.Type) }),
	text("Cluster-IP", func(s *corev1.Service) string { return append(slices.Clone(s.Spec.ClusterIPs), "<none>")[0] }),
	text("External-IP", externalIP),
	text("Port(s)", func(s *corev1.Service) string { return cmp.Or(servicePorts(s.Spec.Ports), "<none>") }),
	ageColumn,
	wide(text("Selector", func(s *corev1.Service) string { return labels.FormatLabels(s.Spec.Selector) })),
}

func externalIP(service *corev1.Service) string {
	switch service.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		if len(service.Spec.ExternalIPs) == 0 {
			return "<none>"
		}
		return strings.Join(service.Spec.ExternalIPs, ",")
	case corev1.ServiceTypeLoadBalancer:
		var balancers []string
		for _, i := range service.Status.LoadBalancer.Ingress {
			if where := cmp.Or(i.IP, i.Hostname); where != "" {
				balancers = append(balancers, where)
			}
		}
		slices.Sort(balancers)
		if balancers = append(slices.Compact(balancers), service.Spec.ExternalIPs...); len(balancers) == 0 {
			return "<pending>"
		}
		return strings.Join(balancers, ",")
	case corev1.ServiceTypeExternalName:
		return service.Spec.ExternalName
	}
	return "<unknown>"
}

func servicePorts(ports []corev1.ServicePort) string {
	var texts []string
	for _, p := range ports {
		text := fmt.Sprintf("%d/%s", p.Port, p.Protocol)
		if p.NodePort > 0 {
			text = fmt.Sprintf("%d:%d/%s", p.Port, p.NodePort, p.Protocol)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ",")
}
