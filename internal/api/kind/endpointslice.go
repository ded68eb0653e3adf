package kind

import (
	"strconv"

	discoveryv1 "k8s.io/api/discovery/v1"
)

func init() {
	register(Kind{
		Group: "discovery.k8s.io", Version: "v1", Name: "EndpointSlice",
		traits: withGeneration,
		Columns: []Column{
			nameColumn,
			text("AddressType", func(s *discoveryv1.EndpointSlice) string { return string(s.AddressType) }),
			text("Ports", func(s *discoveryv1.EndpointSlice) string { return few(slicePorts(s.Ports), "<unset>") }),
			text("Endpoints", func(s *discoveryv1.EndpointSlice) string { return few(sliceAddresses(s.Endpoints), "<unset>") }),
			ageColumn,
		},
	})
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
