package kind

import (
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// Limits of an endpoint slice.
const (
	mostSlicePorts     = 20000
	mostSliceEndpoints = 1000
	mostSliceAddresses = 100
	mostSliceHints     = 8
)

// checkEndpointSlice returns the field errors of a slice.
// [pkg/apis/discovery/validation/validation.go: ValidateEndpointSlice]
func checkEndpointSlice(s *discoveryv1.EndpointSlice) field.ErrorList {
	at := field.NewPath("addressType")
	var errs field.ErrorList
	if s.AddressType == "" {
		errs = append(errs, field.Required(at, ""))
	} else {
		errs = append(errs, oneOf(at, s.AddressType, discoveryv1.AddressTypeFQDN, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6)...)
	}
	errs = append(errs, checkSlicePorts(field.NewPath("ports"), s.Ports)...)
	at = field.NewPath("endpoints")
	if len(s.Endpoints) > mostSliceEndpoints {
		return append(errs, field.TooMany(at, len(s.Endpoints), mostSliceEndpoints))
	}
	for i := range s.Endpoints {
		errs = append(errs, sliceEndpoint(at.Index(i), &s.Endpoints[i], s.AddressType)...)
	}
	return errs
}

func checkSlicePorts(at *field.Path, ports []discoveryv1.EndpointPort) (errs field.ErrorList) {
	if len(ports) > mostSlicePorts {
		return field.ErrorList{field.TooMany(at, len(ports), mostSlicePorts)}
	}
	var names []string
	for i, port := range ports {
		at := at.Index(i)
		errs = append(errs, label(at.Child("name"), *port.Name)...)
		if slices.Contains(names, *port.Name) {
			errs = append(errs, field.Duplicate(at.Child("name"), port.Name))
		}
		names = append(names, *port.Name)
		errs = append(errs, protocol(at.Child("protocol"), *port.Protocol)...)
		if port.AppProtocol != nil {
			errs = append(errs, qualifiedName(at.Child("appProtocol"), *port.AppProtocol)...)
		}
	}
	return errs
}

func sliceEndpoint(at *field.Path, e *discoveryv1.Endpoint, kind discoveryv1.AddressType) (errs field.ErrorList) {
	addresses := at.Child("addresses")
	switch n := len(e.Addresses); {
	case n == 0:
		errs = append(errs, field.Required(addresses, "must contain at least 1 address"))
	case n > mostSliceAddresses:
		errs = append(errs, field.TooMany(addresses, n, mostSliceAddresses))
	}
	for i, address := range e.Addresses {
		errs = append(errs, sliceAddress(addresses, i, address, kind)...)
	}
	if e.NodeName != nil {
		errs = append(errs, subdomain(at.Child("nodeName"), *e.NodeName)...)
	}
	if e.Hostname != nil {
		errs = append(errs, invalid(at.Child("hostname"), *e.Hostname, utilvalidation.IsDNS1123Label(*e.Hostname))...)
	}
	if e.Hints != nil {
		errs = append(errs, sliceHints(at.Child("hints"), e.Hints)...)
	}
	return errs
}

// sliceAddress checks an address of a list; an address of the other family is an error of the list.
func sliceAddress(list *field.Path, i int, address string, kind discoveryv1.AddressType) field.ErrorList {
	var errs field.ErrorList
	at, isFamily, family := list.Index(i), netutils.IsIPv4String, "an IPv4"
	switch kind {
	case discoveryv1.AddressTypeFQDN:
		return utilvalidation.IsFullyQualifiedDomainName(at, address)
	case discoveryv1.AddressTypeIPv4:
		errs = utilvalidation.IsValidIPForLegacyField(at, address, true, nil)
	case discoveryv1.AddressTypeIPv6:
		errs = utilvalidation.IsValidIP(at, address)
		isFamily, family = netutils.IsIPv6String, "an IPv6"
	default:
		return nil
	}
	if len(errs) > 0 {
		return errs
	}
	if !isFamily(address) {
		errs = append(errs, field.Invalid(list, address, "must be "+family+" address"))
	}
	return append(errs, endpointIP(at, address)...)
}

// sliceHints checks the zones and nodes that an endpoint should serve.
func sliceHints(at *field.Path, hints *discoveryv1.EndpointHints) (errs field.ErrorList) {
	check := func(at *field.Path, n int, name func(int) string, wrong func(string) []string) (tooMany bool) {
		if n > mostSliceHints {
			errs = append(errs, field.TooMany(at, n, mostSliceHints))
			return true
		}
		var seen []string
		for i := range n {
			at, name := at.Index(i).Child("name"), name(i)
			if slices.Contains(seen, name) {
				errs = append(errs, field.Duplicate(at, name))
			}
			seen = append(seen, name)
			errs = append(errs, invalid(at, name, wrong(name))...)
		}
		return false
	}
	if check(at.Child("forZones"), len(hints.ForZones), func(i int) string { return hints.ForZones[i].Name }, utilvalidation.IsValidLabelValue) {
		return errs
	}
	check(at.Child("forNodes"), len(hints.ForNodes), func(i int) string { return hints.ForNodes[i].Name }, utilvalidation.IsDNS1123Subdomain)
	return errs
}

// sliceControllers write addresses in canonical form.
var sliceControllers = []string{"endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"}

func endpointSliceWarnings(s, old *discoveryv1.EndpointSlice) (texts []string) {
	if s.AddressType == discoveryv1.AddressTypeFQDN {
		if old == nil {
			texts = append(texts, "spec.addressType: FQDN endpoints are deprecated")
		}
		return texts
	}
	if slices.Contains(sliceControllers, s.Labels[discoveryv1.LabelManagedBy]) {
		return nil
	}
	for i, e := range s.Endpoints {
		for j, address := range e.Addresses {
			texts = append(texts, utilvalidation.GetWarningsForIP(field.NewPath("endpoints").Index(i).Child("addresses").Index(j), address)...)
		}
	}
	return texts
}
