package kind

import (
	"cmp"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Group: "discovery.k8s.io", Version: "v1", Name: "EndpointSlice",
		traits: withGeneration, rules: endpointSliceRules,
		Warnings: fromBoth(endpointSliceWarnings),
		Columns: []Column{
			nameColumn,
			text("AddressType", func(s *discoveryv1.EndpointSlice) string { return string(s.AddressType) }),
			text("Ports", func(s *discoveryv1.EndpointSlice) string { return cmp.Or(few(slicePorts(s.Ports)), "<unset>") }),
			text("Endpoints", func(s *discoveryv1.EndpointSlice) string {
				return cmp.Or(few(sliceAddresses(s.Endpoints)), "<unset>")
			}),
			ageColumn,
		},
	})
}

var endpointSliceRules = rules[*discoveryv1.EndpointSlice]{
	fill: func(s *discoveryv1.EndpointSlice) {
		for i := range s.Ports {
			setDefault(&s.Ports[i].Name, "")
			setDefault(&s.Ports[i].Protocol, corev1.ProtocolTCP)
		}
	},
	admit: func(_ admission, s *discoveryv1.EndpointSlice) error {
		dropTopology(s)
		return nil
	},
	prepare: func(s, old *discoveryv1.EndpointSlice) {
		same := equality.Semantic.DeepEqual
		if s.AddressType != old.AddressType || !same(s.Endpoints, old.Endpoints) || !same(s.Ports, old.Ports) || !same(s.Labels, old.Labels) {
			s.Generation = old.Generation + 1
		}
		dropTopology(s)
	},
	validate: checkEndpointSlice,
	passes:   []store.Pass{store.PassObject, store.PassChange},
	validateUpdate: func(s, old *discoveryv1.EndpointSlice) field.ErrorList {
		return immutable(field.NewPath("addressType"), s.AddressType, old.AddressType)
	},
}

// dropTopology clears a field of v1beta1.
func dropTopology(s *discoveryv1.EndpointSlice) {
	for i := range s.Endpoints {
		s.Endpoints[i].DeprecatedTopology = nil
	}
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
