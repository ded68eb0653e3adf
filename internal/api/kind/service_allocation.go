package kind

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/address"
	"github.com/csisim/csisim/internal/world/store"
)

// The addresses and ports for services, in order. They come from kind's service subnet, without the
// addresses of the API server and of DNS.
var (
	firstServiceIP = address.FirstService
	serviceSubnet  = address.Services
)

const firstNodePort, lastNodePort = 30000, 32767

// allocate completes a service before it is validated. It keeps the service's addresses and ports,
// and adds missing ones. old is the replaced service; nil for a new one. (kubernetes v1.36.3,
// pkg/registry/core/service/storage/alloc.go)
func allocate(cluster store.Reader, service, old *corev1.Service) error {
	if old != nil {
		keepAllocated(&service.Spec, &old.Spec)
	}
	pairAddresses(&service.Spec, old)
	if err := settleFamilies(service, old); err != nil {
		return err
	}
	spec := &service.Spec
	wasWithout := old == nil || old.Spec.Type == corev1.ServiceTypeExternalName
	needsAddress := wasWithout && spec.Type != corev1.ServiceTypeExternalName && !isHeadless(spec)
	needsHealthCheck := hasHealthCheck(spec) && (old == nil || !hasHealthCheck(&old.Spec))
	if !needsAddress && !hasNodePorts(spec) && !needsHealthCheck {
		return nil
	}
	taken := takenBy(cluster, service)
	if needsAddress {
		if err := taken.allocateAddress(service); err != nil {
			return err
		}
	}
	if hasNodePorts(spec) {
		if err := taken.allocatePorts(service, old); err != nil {
			return err
		}
	}
	if needsHealthCheck {
		return taken.allocateHealthCheck(spec)
	}
	return nil
}

// allocations are the addresses and ports of services.
type allocations struct {
	addresses map[string]bool
	ports     map[int32]bool
}

// takenBy returns the addresses and ports of all other services.
func takenBy(cluster store.Reader, service *corev1.Service) allocations {
	taken := allocations{map[string]bool{}, map[int32]bool{}}
	for other := range store.List[*corev1.Service](cluster, "") {
		if store.KeyOf(other) == store.KeyOf(service) {
			continue
		}
		for _, address := range other.Spec.ClusterIPs {
			taken.addresses[address] = true
		}
		for _, p := range other.Spec.Ports {
			taken.ports[p.NodePort] = true
		}
		taken.ports[other.Spec.HealthCheckNodePort] = true
	}
	return taken
}

func (a allocations) allocateAddress(service *corev1.Service) error {
	spec := &service.Spec
	if len(spec.ClusterIPs) > 0 && spec.ClusterIPs[0] != "" {
		return a.allocateChosen(service, spec.ClusterIPs[0])
	}
	ip := firstServiceIP
	for a.addresses[ip.String()] {
		ip = ip.Next()
	}
	if !serviceSubnet.Contains(ip) {
		return apierrors.NewInternalError(fmt.Errorf("failed to allocate a serviceIP for Service %q: range is full", service.Name))
	}
	spec.ClusterIP, spec.ClusterIPs = ip.String(), []string{ip.String()}
	return nil
}

// allocateChosen takes the address that a service requests.
func (a allocations) allocateChosen(service *corev1.Service, address string) error {
	why := ""
	if ip, err := netip.ParseAddr(address); err != nil || !serviceSubnet.Contains(ip) {
		why = "the provided network does not match the current range"
	} else if a.addresses[ip.String()] {
		why = "provided IP is already allocated"
	}
	if why == "" {
		service.Spec.ClusterIP = address
		return nil
	}
	return invalidService(service, field.Invalid(field.NewPath("spec", "clusterIPs"), service.Spec.ClusterIPs, fmt.Sprintf("failed to allocate IP %s: %s", address, why)))
}

// allocatePorts allocates node ports for the ports of a service. If ports of a new service have the
// same number for several protocols, they get the same node port.
func (a allocations) allocatePorts(service, old *corev1.Service) error {
	spec, given := &service.Spec, map[int32]int32{}
	var all []string
	for i := range spec.Ports {
		port := &spec.Ports[i]
		if port.NodePort == 0 && spec.Type == corev1.ServiceTypeLoadBalancer && !*spec.AllocateLoadBalancerNodePorts {
			continue
		}
		if port.NodePort == 0 && old == nil {
			port.NodePort = sharedPort(spec.Ports, given, port.Port)
		}
		switch {
		case port.NodePort == 0:
			if port.NodePort = a.freePort(); port.NodePort == 0 {
				return apierrors.NewInternalError(errors.New("failed to allocate a nodePort: range is full"))
			}
		case given[port.Port] == port.NodePort || old != nil && hasNodePort(old.Spec.Ports, port.NodePort):
		default:
			if why := a.refusal(port.NodePort); why != "" {
				return invalidService(service, field.Invalid(field.NewPath("spec", "ports").Index(i).Child("nodePort"), port.NodePort, why))
			}
		}
		if here := fmt.Sprintf("{%s %d}", port.Protocol, port.NodePort); old != nil && slices.Contains(all, here) {
			return fmt.Errorf("duplicate nodePort: %s", here)
		} else {
			all = append(all, here)
		}
		a.ports[port.NodePort] = true
		given[port.Port] = port.NodePort
	}
	return nil
}

// sharedPort returns the node port of another port with the same number, 0 if there is none.
func sharedPort(ports []corev1.ServicePort, given map[int32]int32, number int32) int32 {
	if port := given[number]; port != 0 {
		return port
	}
	for _, p := range ports {
		if p.Port == number && p.NodePort != 0 {
			return p.NodePort
		}
	}
	return 0
}

func hasNodePort(ports []corev1.ServicePort, number int32) bool {
	return slices.ContainsFunc(ports, func(p corev1.ServicePort) bool { return p.NodePort == number })
}

// freePort returns the first port that no service has, 0 if there is none.
func (a allocations) freePort() int32 {
	for port := int32(firstNodePort); port <= lastNodePort; port++ {
		if !a.ports[port] {
			return port
		}
	}
	return 0
}

// refusal returns the reason why a port cannot be allocated; "" if it can.
func (a allocations) refusal(port int32) string {
	switch {
	case port < firstNodePort || port > lastNodePort:
		return fmt.Sprintf("provided port is not in the valid range. The range of valid ports is %d-%d", firstNodePort, lastNodePort)
	case a.ports[port]:
		return "provided port is already allocated"
	}
	return ""
}

func (a allocations) allocateHealthCheck(spec *corev1.ServiceSpec) error {
	port := spec.HealthCheckNodePort
	if port == 0 {
		if spec.HealthCheckNodePort = a.freePort(); spec.HealthCheckNodePort == 0 {
			return apierrors.NewInternalError(errors.New("failed to allocate a HealthCheck NodePort 0: range is full"))
		}
		return nil
	}
	if why := a.refusal(port); why != "" {
		return apierrors.NewInternalError(fmt.Errorf("failed to allocate requested HealthCheck NodePort %v: %s", port, why))
	}
	return nil
}

func invalidService(service *corev1.Service, errs ...*field.Error) error {
	return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Service").GroupKind(), service.Name, errs)
}
