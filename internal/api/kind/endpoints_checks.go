package kind

import (
	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkEndpoints returns the field errors of addresses and ports.
// [pkg/apis/core/validation/validation.go: validateEndpointSubsets]
//
//lint:ignore SA1019 clients still ask for it
func checkEndpoints(e *corev1.Endpoints) (errs field.ErrorList) {
	for i, subset := range e.Subsets {
		at := field.NewPath("subsets").Index(i)
		if len(subset.Addresses)+len(subset.NotReadyAddresses) == 0 {
			errs = append(errs, field.Required(at, "must specify `addresses` or `notReadyAddresses`"))
		}
		for j := range subset.Addresses {
			errs = append(errs, endpointAddress(at.Child("addresses").Index(j), &subset.Addresses[j])...)
		}
		for j := range subset.NotReadyAddresses {
			errs = append(errs, endpointAddress(at.Child("notReadyAddresses").Index(j), &subset.NotReadyAddresses[j])...)
		}
		for j, port := range subset.Ports {
			errs = append(errs, endpointPort(at.Child("ports").Index(j), port, len(subset.Ports) > 1)...)
		}
	}
	return errs
}

func endpointAddress(at *field.Path, address *corev1.EndpointAddress) field.ErrorList {
	errs := utilvalidation.IsValidIPForLegacyField(at.Child("ip"), address.IP, true, nil)
	errs = append(errs, label(at.Child("hostname"), address.Hostname)...)
	if address.NodeName != nil {
		errs = append(errs, subdomain(at.Child("nodeName"), *address.NodeName)...)
	}
	return append(errs, endpointIP(at.Child("ip"), address.IP)...)
}

// endpointIP checks an address of an endpoint. Programs may share the machine's network, so it may
// be a loopback address.
func endpointIP(at *field.Path, address string) field.ErrorList {
	return reachableAddress(at, address, true)
}

func endpointPort(at *field.Path, port corev1.EndpointPort, several bool) (errs field.ErrorList) {
	if port.Name == "" && several {
		errs = append(errs, field.Required(at.Child("name"), ""))
	}
	errs = append(errs, label(at.Child("name"), port.Name)...)
	errs = append(errs, invalid(at.Child("port"), port.Port, utilvalidation.IsValidPortNum(int(port.Port)))...)
	errs = append(errs, protocol(at.Child("protocol"), port.Protocol)...)
	if port.AppProtocol != nil {
		errs = append(errs, qualifiedName(at.Child("appProtocol"), *port.AppProtocol)...)
	}
	return errs
}

func protocol(at *field.Path, p corev1.Protocol) field.ErrorList {
	return oneOf(at, p, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)
}

// endpointsWarnings are about unusual forms of addresses, except those that the controller writes.
//
//lint:ignore SA1019 clients still ask for it
func endpointsWarnings(e, _ *corev1.Endpoints) (texts []string) {
	if e.Labels["endpoints.kubernetes.io/managed-by"] == "endpoint-controller" {
		return nil
	}
	for i, subset := range e.Subsets {
		at := field.NewPath("subsets").Index(i)
		for j, address := range subset.Addresses {
			texts = append(texts, utilvalidation.GetWarningsForIP(at.Child("addresses").Index(j).Child("ip"), address.IP)...)
		}
		for j, address := range subset.NotReadyAddresses {
			texts = append(texts, utilvalidation.GetWarningsForIP(at.Child("notReadyAddresses").Index(j).Child("ip"), address.IP)...)
		}
	}
	return texts
}
