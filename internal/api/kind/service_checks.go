package kind

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// checkService returns the field errors of a service. old is the replaced service, nil for a new
// one: its addresses stay valid.
func checkService(service, old *corev1.Service) field.ErrorList {
	at, spec := field.NewPath("spec"), &service.Spec
	errs := topologyAnnotations(service.Annotations)
	if len(spec.Ports) == 0 && !isHeadless(spec) && spec.Type != corev1.ServiceTypeExternalName {
		errs = append(errs, field.Required(at.Child("ports"), ""))
	}
	errs = append(errs, addressOfType(spec, at)...)
	errs = append(errs, servicePortList(spec.Ports, at.Child("ports"))...)
	errs = append(errs, checkLabels(spec.Selector, at.Child("selector"))...)
	errs = append(errs, oneOf(at.Child("sessionAffinity"), spec.SessionAffinity, corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)...)
	if spec.SessionAffinity == corev1.ServiceAffinityClientIP {
		errs = append(errs, affinityLife(spec, at.Child("sessionAffinityConfig", "clientIP", "timeoutSeconds"))...)
	}
	errs = append(errs, serviceAddresses(service, old)...)
	errs = append(errs, externalAddresses(spec, old, at.Child("externalIPs"))...)
	errs = append(errs, oneOf(at.Child("type"), spec.Type,
		corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort)...)
	errs = append(errs, portsOfType(spec, at.Child("ports"))...)
	errs = append(errs, sourceRanges(service, old)...)
	if spec.AllocateLoadBalancerNodePorts != nil && spec.Type != corev1.ServiceTypeLoadBalancer {
		errs = append(errs, field.Forbidden(at.Child("allocateLoadBalancerNodePorts"), onlyOfBalancers))
	}
	errs = append(errs, balancerClass(spec)...)
	return append(errs, trafficPolicies(spec, at)...)
}

const onlyOfBalancers = "may only be used when `type` is 'LoadBalancer'"

func topologyAnnotations(annotations map[string]string) field.ErrorList {
	hints, hinted := annotations[corev1.DeprecatedAnnotationTopologyAwareHints]
	mode, set := annotations[corev1.AnnotationTopologyMode]
	if !hinted || !set || hints == mode {
		return nil
	}
	return field.ErrorList{field.Invalid(metadataPath.Child("annotations").Key(corev1.AnnotationTopologyMode), mode,
		fmt.Sprintf("must match annotations[%s] when both are specified", corev1.DeprecatedAnnotationTopologyAwareHints))}
}

// addressOfType checks the addresses and names that a type of service may have.
func addressOfType(spec *corev1.ServiceSpec, at *field.Path) (errs field.ErrorList) {
	if hasNodePorts(spec) && isHeadless(spec) {
		errs = append(errs, field.Invalid(at.Child("clusterIPs").Index(0), spec.ClusterIPs[0], fmt.Sprintf("may not be set to 'None' for %s services", spec.Type)))
	}
	if spec.Type != corev1.ServiceTypeExternalName {
		return errs
	}
	forbid := func(name string, given bool) {
		if given {
			errs = append(errs, field.Forbidden(at.Child(name), "may not be set for ExternalName services"))
		}
	}
	forbid("clusterIPs", len(spec.ClusterIPs) > 0)
	forbid("ipFamilies", len(spec.IPFamilies) > 0)
	forbid("ipFamilyPolicy", spec.IPFamilyPolicy != nil)
	if name := strings.TrimSuffix(spec.ExternalName, "."); name != "" {
		return append(errs, subdomain(at.Child("externalName"), name)...)
	}
	return append(errs, field.Required(at.Child("externalName"), ""))
}

func servicePortList(ports []corev1.ServicePort, at *field.Path) (errs field.ErrorList) {
	names := sets.Set[string]{}
	for i, port := range ports {
		at := at.Index(i)
		if port.Name == "" && len(ports) > 1 {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else if port.Name != "" {
			errs = append(errs, invalid(at.Child("name"), port.Name, utilvalidation.IsDNS1123Label(port.Name))...)
			if names.Has(port.Name) {
				errs = append(errs, field.Duplicate(at.Child("name"), port.Name))
			}
			names.Insert(port.Name)
		}
		errs = append(errs, invalid(at.Child("port"), port.Port, utilvalidation.IsValidPortNum(int(port.Port)))...)
		errs = append(errs, protocol(at.Child("protocol"), port.Protocol)...)
		if target := port.TargetPort; target.Type == intstr.Int {
			errs = append(errs, invalid(at.Child("targetPort"), target.IntValue(), utilvalidation.IsValidPortNum(target.IntValue()))...)
		} else {
			errs = append(errs, invalid(at.Child("targetPort"), target.StrVal, utilvalidation.IsValidPortName(target.StrVal))...)
		}
		if port.AppProtocol != nil {
			errs = append(errs, qualifiedName(at.Child("appProtocol"), *port.AppProtocol)...)
		}
	}
	return errs
}

// affinityLife checks how long a client stays with a pod; fillAffinity has already set a default.
func affinityLife(spec *corev1.ServiceSpec, at *field.Path) field.ErrorList {
	const longest = 86400
	if life := *spec.SessionAffinityConfig.ClientIP.TimeoutSeconds; life <= 0 || life > longest {
		return field.ErrorList{field.Invalid(at, life, fmt.Sprintf("must be greater than 0 and less than %d", longest))}
	}
	return nil
}

func externalAddresses(spec *corev1.ServiceSpec, old *corev1.Service, at *field.Path) (errs field.ErrorList) {
	var before []string
	if old != nil {
		before = old.Spec.ExternalIPs
	}
	for i, address := range spec.ExternalIPs {
		wrong := utilvalidation.IsValidIPForLegacyField(at.Index(i), address, true, before)
		if len(wrong) == 0 {
			wrong = reachableAddress(at.Index(i), address, false)
		}
		errs = append(errs, wrong...)
	}
	return errs
}

// reachableAddress checks an address for clients. loopback permits the machine's own address.
func reachableAddress(at *field.Path, address string, loopback bool) (errs field.ErrorList) {
	ip := netutils.ParseIPSloppy(address)
	if ip == nil {
		return field.ErrorList{field.Invalid(at, address, "must be a valid IP address")}
	}
	refuse := func(is bool, rule string) {
		if is {
			errs = append(errs, field.Invalid(at, address, "may not be "+rule))
		}
	}
	refuse(ip.IsUnspecified(), fmt.Sprintf("unspecified (%v)", address))
	refuse(ip.IsLoopback() && !loopback, "in the loopback range (127.0.0.0/8, ::1/128)")
	refuse(ip.IsLinkLocalUnicast(), "in the link-local range (169.254.0.0/16, fe80::/10)")
	refuse(ip.IsLinkLocalMulticast(), "in the link-local multicast range (224.0.0.0/24, ff02::/10)")
	return errs
}

// portsOfType checks node ports, and that no two ports of a protocol have the same number.
func portsOfType(spec *corev1.ServiceSpec, at *field.Path) (errs field.ErrorList) {
	type number struct {
		protocol corev1.Protocol
		port     int32
	}
	onNodes, ports := sets.Set[number]{}, sets.Set[number]{}
	for i, port := range spec.Ports {
		if port.NodePort != 0 && spec.Type == corev1.ServiceTypeClusterIP {
			errs = append(errs, field.Forbidden(at.Index(i).Child("nodePort"), "may not be used when `type` is 'ClusterIP'"))
		}
	}
	for i, port := range spec.Ports {
		if n := (number{port.Protocol, port.NodePort}); port.NodePort != 0 {
			if onNodes.Has(n) {
				errs = append(errs, field.Duplicate(at.Index(i).Child("nodePort"), port.NodePort))
			}
			onNodes.Insert(n)
		}
	}
	for i, port := range spec.Ports {
		n := number{port.Protocol, port.Port}
		if ports.Has(n) {
			errs = append(errs, field.Duplicate(at.Index(i), goNames{corev1.ServicePort{Protocol: port.Protocol, Port: port.Port}}))
		}
		ports.Insert(n)
	}
	return errs
}
