package apiserver

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func init() {
	columnsOf["services"] = []column{
		nameColumn,
		text("Type", func(s *corev1.Service) string { return string(s.Spec.Type) }),
		text("Cluster-IP", func(s *corev1.Service) string { return append(slices.Clone(s.Spec.ClusterIPs), "<none>")[0] }),
		text("External-IP", externalIP),
		text("Port(s)", func(s *corev1.Service) string { return cmp.Or(servicePorts(s.Spec.Ports), "<none>") }),
		ageColumn,
		wide(text("Selector", func(s *corev1.Service) string { return labels.FormatLabels(s.Spec.Selector) })),
	}
	//lint:ignore SA1019 clients still ask for it
	columnsOf["endpoints"] = []column{nameColumn, text("Endpoints", func(e *corev1.Endpoints) string { return few(addressesOf(e.Subsets), "<none>") }), ageColumn}
	columnsOf["endpointslices.discovery.k8s.io"] = []column{
		nameColumn,
		text("AddressType", func(s *discoveryv1.EndpointSlice) string { return string(s.AddressType) }),
		text("Ports", func(s *discoveryv1.EndpointSlice) string { return few(slicePorts(s.Ports), "<unset>") }),
		text("Endpoints", func(s *discoveryv1.EndpointSlice) string { return few(sliceAddresses(s.Endpoints), "<unset>") }),
		ageColumn,
	}
}

func externalIP(service *corev1.Service) string {
	switch service.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		return cmp.Or(strings.Join(service.Spec.ExternalIPs, ","), "<none>")
	case corev1.ServiceTypeLoadBalancer:
		var balancers []string
		for _, i := range service.Status.LoadBalancer.Ingress {
			if where := cmp.Or(i.IP, i.Hostname); where != "" {
				balancers = append(balancers, where)
			}
		}
		slices.Sort(balancers)
		return cmp.Or(strings.Join(append(slices.Compact(balancers), service.Spec.ExternalIPs...), ","), "<pending>")
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

//lint:ignore SA1019 clients still ask for it
func addressesOf(subsets []corev1.EndpointSubset) (all []string) {
	for _, subset := range subsets {
		for _, address := range subset.Addresses {
			if len(subset.Ports) == 0 {
				all = append(all, address.IP)
			}
		}
		for _, port := range subset.Ports {
			for _, address := range subset.Addresses {
				all = append(all, net.JoinHostPort(address.IP, strconv.Itoa(int(port.Port))))
			}
		}
	}
	return all
}

func slicePorts(ports []discoveryv1.EndpointPort) (all []string) {
	for _, p := range ports {
		switch {
		case p.Port != nil:
			all = append(all, strconv.Itoa(int(*p.Port)))
		case p.Name != nil:
			all = append(all, *p.Name)
		default:
			all = append(all, "*")
		}
	}
	return all
}

func sliceAddresses(endpoints []discoveryv1.Endpoint) (all []string) {
	for _, e := range endpoints {
		all = append(all, e.Addresses...)
	}
	return all
}

// few are the first three of a list, and how many more there are.
func few(all []string, none string) string {
	const shown = 3
	switch {
	case len(all) == 0:
		return none
	case len(all) <= shown:
		return strings.Join(all, ",")
	}
	return fmt.Sprintf("%s + %d more...", strings.Join(all[:shown], ","), len(all)-shown)
}
