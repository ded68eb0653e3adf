package kind

import (
	"errors"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Version: "v1", Name: "Service",
		ShortNames: []string{"svc"}, Categories: []string{"all"},
		traits: withStatus, rules: serviceRules,
		Columns: serviceColumns,
		Fields: selectable(map[string]func(*corev1.Service) string{
			"spec.clusterIP": func(o *corev1.Service) string { return o.Spec.ClusterIP },
			"spec.type":      func(o *corev1.Service) string { return string(o.Spec.Type) },
		}),
		AnswersDeleted: true,
	})
}

// The addresses and ports that services get, in order: kind's service subnet, without the
// addresses that it gives to the API server and to DNS.
var (
	firstServiceIP = netip.MustParseAddr("10.96.0.11")
	serviceSubnet  = netip.MustParsePrefix("10.96.0.0/16")
)

const firstNodePort, lastNodePort = 30000, 32767

var serviceRules = rules[*corev1.Service]{
	name:            validation.NameIsDNS1035Label,
	createdByUpdate: true,
	fill:            func(obj *corev1.Service) { fillService(&obj.Spec) },
	admit:           func(a admission, obj *corev1.Service) error { return allocate(a.cluster, obj) },
	prepare:         func(obj, old *corev1.Service) { keepAddresses(&obj.Spec, &old.Spec) },
	admitUpdate: func(cluster store.Reader, obj, _ *corev1.Service) error {
		return allocate(cluster, obj)
	},
	validateUpdate: func(obj, old *corev1.Service) field.ErrorList {
		return checkServiceUpdate(&obj.Spec, &old.Spec)
	},
	quota: &serviceQuota,
}

// fillService sets the defaults of a service.
func fillService(spec *corev1.ServiceSpec) {
	setEmpty(&spec.Type, corev1.ServiceTypeClusterIP)
	setEmpty(&spec.SessionAffinity, corev1.ServiceAffinityNone)
	for i := range spec.Ports {
		port := &spec.Ports[i]
		setEmpty(&port.Protocol, corev1.ProtocolTCP)
		if port.TargetPort == (intstr.IntOrString{}) {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
	if spec.Type == corev1.ServiceTypeExternalName {
		return
	}
	setDefault(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	if hasNodePorts(spec) {
		setEmpty(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		setDefault(&spec.AllocateLoadBalancerNodePorts, true)
	}
	setDefault(&spec.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack)
	if len(spec.IPFamilies) == 0 {
		spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	if spec.ClusterIP != "" && len(spec.ClusterIPs) == 0 {
		spec.ClusterIPs = []string{spec.ClusterIP}
	}
}

func hasNodePorts(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeNodePort || spec.Type == corev1.ServiceTypeLoadBalancer
}

// keepAddresses leaves a service what it was given, if an update does not speak of it.
func keepAddresses(spec, old *corev1.ServiceSpec) {
	if spec.Type == corev1.ServiceTypeExternalName || old.Type == corev1.ServiceTypeExternalName {
		return
	}
	if spec.ClusterIP == "" && len(spec.ClusterIPs) == 0 {
		spec.ClusterIP, spec.ClusterIPs = old.ClusterIP, old.ClusterIPs
	}
	if !hasNodePorts(spec) || !hasNodePorts(old) {
		return
	}
	for i := range spec.Ports {
		for _, was := range old.Ports {
			if port := &spec.Ports[i]; port.NodePort == 0 && port.Port == was.Port && port.Protocol == was.Protocol {
				port.NodePort = was.NodePort
			}
		}
	}
}

// allocate gives a service the address and the ports of nodes that it lacks.
func allocate(cluster store.Reader, service *corev1.Service) error {
	spec := &service.Spec
	if spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	addresses, ports := map[string]bool{}, map[int32]bool{}
	for other := range store.List[*corev1.Service](cluster, "") {
		if store.KeyOf(other) != store.KeyOf(service) {
			addresses[other.Spec.ClusterIP] = true
			for _, p := range other.Spec.Ports {
				ports[p.NodePort] = true
			}
		}
	}
	if err := allocateAddress(service, addresses); err != nil {
		return err
	}
	if spec.Type == corev1.ServiceTypeNodePort || spec.Type == corev1.ServiceTypeLoadBalancer && *spec.AllocateLoadBalancerNodePorts {
		return allocatePorts(service, ports)
	}
	return nil
}

func allocateAddress(service *corev1.Service, taken map[string]bool) error {
	spec := &service.Spec
	switch {
	case spec.ClusterIP == corev1.ClusterIPNone:
		return nil
	case spec.ClusterIP != "" && taken[spec.ClusterIP]:
		return invalidService(service, field.Invalid(field.NewPath("spec", "clusterIPs"), spec.ClusterIPs,
			"failed to allocate IP "+spec.ClusterIP+": provided IP is already allocated"))
	case spec.ClusterIP != "":
		return nil
	}
	ip := firstServiceIP
	for taken[ip.String()] {
		ip = ip.Next()
	}
	if !serviceSubnet.Contains(ip) {
		return apierrors.NewInternalError(errors.New("failed to allocate a serviceIP: range is full"))
	}
	spec.ClusterIP, spec.ClusterIPs = ip.String(), []string{ip.String()}
	return nil
}

func allocatePorts(service *corev1.Service, taken map[int32]bool) error {
	for i := range service.Spec.Ports {
		port := &service.Spec.Ports[i]
		if port.NodePort != 0 && taken[port.NodePort] {
			return invalidService(service, field.Invalid(field.NewPath("spec", "ports").Index(i).Child("nodePort"), port.NodePort, "provided port is already allocated"))
		}
		for next := int32(firstNodePort); port.NodePort == 0 && next <= lastNodePort; next++ {
			if !taken[next] {
				port.NodePort = next
			}
		}
		if port.NodePort == 0 {
			return apierrors.NewInternalError(errors.New("failed to allocate a nodePort: range is full"))
		}
		taken[port.NodePort] = true
	}
	return nil
}

func invalidService(service *corev1.Service, err *field.Error) error {
	return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Service").GroupKind(), service.Name, field.ErrorList{err})
}

// checkServiceUpdate: the address of a service stays as long as its type needs one.
func checkServiceUpdate(spec, old *corev1.ServiceSpec) field.ErrorList {
	if spec.Type == corev1.ServiceTypeExternalName || old.Type == corev1.ServiceTypeExternalName || spec.ClusterIP == old.ClusterIP {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIPs").Index(0), spec.ClusterIPs, "may not change once set")}
}
