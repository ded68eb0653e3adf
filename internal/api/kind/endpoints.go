package kind

import (
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Version: "v1", Name: "Endpoints",
		ShortNames: []string{"ep"},
		Plural:     "endpoints",
		//lint:ignore SA1019 clients still ask for it
		rules:      rules[*corev1.Endpoints]{createdByUpdate: true, fill: fillEndpoints, validate: checkEndpoints, passes: []store.Pass{store.PassMetadata, store.PassObject}},
		Columns:    []Column{nameColumn, text("Endpoints", allAddresses), ageColumn},
		Warnings:   fromBoth(endpointsWarnings),
		Deprecated: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
	})
}

//lint:ignore SA1019 clients still ask for it
func fillEndpoints(e *corev1.Endpoints) {
	for _, subset := range e.Subsets {
		for i := range subset.Ports {
			setEmpty(&subset.Ports[i].Protocol, corev1.ProtocolTCP)
		}
	}
}

//lint:ignore SA1019 clients still ask for it
func allAddresses(e *corev1.Endpoints) string {
	if len(e.Subsets) == 0 {
		return "<none>"
	}
	return few(addressesOf(e.Subsets))
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
