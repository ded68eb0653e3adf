// Package discovery resolves services from their endpoint slices, like kube-proxy and the cluster's
// name server.
package discovery

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/csisim/csisim/internal/world/address"
	"github.com/csisim/csisim/internal/world/store"
)

// Backends returns the targets of a port of a service's address; false if no service has the
// address. [pkg/proxy/serviceport.go, endpointslicecache.go]
func Backends(cluster store.Reader, at netip.AddrPort, protocol string) ([]netip.AddrPort, bool) {
	for s := range store.List[*corev1.Service](cluster, "") {
		if s.Spec.ClusterIP != at.Addr().String() {
			continue
		}
		for _, port := range s.Spec.Ports {
			if port.Port == int32(at.Port()) && strings.EqualFold(string(port.Protocol), protocol) {
				return BackendsOf(cluster, s, port.Name), true
			}
		}
	}
	return nil, false
}

// BackendsOf returns the backends of a port of a service: the addresses of its ready pods.
func BackendsOf(cluster store.Reader, s *corev1.Service, port string) (found []netip.AddrPort) {
	for slice := range slicesOf(cluster, s) {
		for _, p := range slice.Ports {
			if p.Port == nil || p.Name == nil && port != "" || p.Name != nil && *p.Name != port {
				continue
			}
			for _, e := range slice.Endpoints {
				if at, ok := addressOf(e); ok {
					found = append(found, netip.AddrPortFrom(at, uint16(*p.Port)))
				}
			}
		}
	}
	return found
}

// slicesOf ranges over the endpoint slices of a service.
func slicesOf(cluster store.Reader, s *corev1.Service) func(yield func(*discoveryv1.EndpointSlice) bool) {
	return func(yield func(*discoveryv1.EndpointSlice) bool) {
		for slice := range store.List[*discoveryv1.EndpointSlice](cluster, s.Namespace) {
			if slice.Labels[discoveryv1.LabelServiceName] == s.Name && slice.AddressType == discoveryv1.AddressTypeIPv4 && !yield(slice) {
				return
			}
		}
	}
}

// addressOf returns the address of an endpoint that is ready.
func addressOf(e discoveryv1.Endpoint) (at netip.Addr, ok bool) {
	if len(e.Addresses) == 0 || e.Conditions.Ready != nil && !*e.Conditions.Ready {
		return at, false
	}
	at, err := netip.ParseAddr(e.Addresses[0])
	return at, err == nil
}

// name is a parsed name of the cluster's domain. [kubernetes/dns, docs/specification.md, version
// 1.1.0]
type name struct {
	kind               string // "svc" or "pod"
	namespace, service string
	endpoint           string // the endpoint of a headless service; otherwise empty
	port, protocol     string // set if the name requests ports; otherwise empty
}

// parse reads a name below the cluster's domain; false for an impossible name.
func parse(text string) (n name, ok bool) {
	rest, ok := strings.CutSuffix(text, "."+address.Domain)
	labels := strings.Split(rest, ".")
	slices.Reverse(labels)
	if !ok || len(labels) < 3 || len(labels) > 5 {
		return n, false
	}
	n = name{kind: labels[0], namespace: labels[1], service: labels[2]}
	switch further := labels[3:]; {
	case n.kind != "svc" && (n.kind != "pod" || len(further) > 0):
		return n, false
	case len(further) == 2 && strings.HasPrefix(further[0], "_") && strings.HasPrefix(further[1], "_"):
		n.protocol, n.port = further[0][1:], further[1][1:]
	case len(further) == 1:
		n.endpoint = further[0]
	case len(further) == 2:
		return n, false
	}
	return n, true
}

// of returns the service to which a name belongs.
func (n name) of(cluster store.Reader) (*corev1.Service, bool) {
	return store.Get[*corev1.Service](cluster, store.Key{Namespace: n.namespace, Name: n.service})
}

// Addresses returns the addresses of a name of the cluster's domain; false if the name does not
// exist.
func Addresses(cluster store.Reader, text string) (found []netip.Addr, ok bool) {
	n, ok := parse(text)
	if !ok || n.port != "" {
		return nil, false
	}
	if n.kind == "pod" {
		at, err := netip.ParseAddr(strings.ReplaceAll(n.service, "-", "."))
		return []netip.Addr{at}, err == nil
	}
	s, ok := n.of(cluster)
	switch {
	case !ok:
		return nil, false
	case n.endpoint == "" && s.Spec.ClusterIP != corev1.ClusterIPNone:
		at, err := netip.ParseAddr(s.Spec.ClusterIP)
		return []netip.Addr{at}, err == nil
	}
	for slice := range slicesOf(cluster, s) {
		for _, e := range slice.Endpoints {
			if at, ready := addressOf(e); ready && (n.endpoint == "" || n.endpoint == hostname(e)) {
				found = append(found, at)
			}
		}
	}
	return found, n.endpoint == "" || len(found) > 0
}

// hostname returns an endpoint's name within its service.
func hostname(e discoveryv1.Endpoint) string {
	if e.Hostname != nil {
		return *e.Hostname
	}
	return strings.ReplaceAll(e.Addresses[0], ".", "-")
}

// Alias returns the target of the name of a service of type ExternalName; empty for other names.
func Alias(cluster store.Reader, text string) string {
	if n, ok := parse(text); ok && n.kind == "svc" && n.endpoint == "" && n.port == "" {
		if s, ok := n.of(cluster); ok && s.Spec.Type == corev1.ServiceTypeExternalName {
			return s.Spec.ExternalName
		}
	}
	return ""
}

// Ports returns the targets of a name such as "_http._tcp.web.default.svc.cluster.local"; false if
// it does not name a service's port.
func Ports(cluster store.Reader, text string) (found []net.SRV, ok bool) {
	n, ok := parse(text)
	if !ok || n.port == "" {
		return nil, false
	}
	s, ok := n.of(cluster)
	if !ok {
		return nil, false
	}
	for _, port := range s.Spec.Ports {
		if port.Name != n.port || !strings.EqualFold(string(cmp.Or(port.Protocol, corev1.ProtocolTCP)), n.protocol) {
			continue
		}
		domain := s.Name + "." + s.Namespace + ".svc." + address.Domain
		if s.Spec.ClusterIP != corev1.ClusterIPNone {
			return []net.SRV{{Target: domain, Port: uint16(port.Port)}}, true
		}
		for slice := range slicesOf(cluster, s) {
			found = append(found, endpointsOf(slice, port.Name, domain)...)
		}
		return found, true
	}
	return nil, false
}

// endpointsOf returns the ready endpoints of a slice, with the number of the port.
func endpointsOf(slice *discoveryv1.EndpointSlice, port, domain string) (found []net.SRV) {
	for _, p := range slice.Ports {
		if p.Name == nil || *p.Name != port || p.Port == nil {
			continue
		}
		for _, e := range slice.Endpoints {
			if _, ready := addressOf(e); ready {
				found = append(found, net.SRV{Target: hostname(e) + "." + domain, Port: uint16(*p.Port)})
			}
		}
	}
	return found
}
