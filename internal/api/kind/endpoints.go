package kind

import (
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

func init() {
	register(Kind{
		Version: "v1", Name: "Endpoints",
		ShortNames: []string{"ep"},
		Plural:     "endpoints",
		//lint:ignore SA1019 clients still ask for it
		rules: rules[*corev1.Endpoints]{createdByUpdate: true},
		//lint:ignore SA1019 clients still ask for it
		Columns:    []Column{nameColumn, text("Endpoints", func(e *corev1.Endpoints) string { return few(addressesOf(e.Subsets), "<none>") }), ageColumn},
		Deprecated: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
	})
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
