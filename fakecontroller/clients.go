package fakecontroller

import (
	"net/netip"

	"github.com/csisim/csisim/fakecontroller/internal/clusterroleaggregation"
	"github.com/csisim/csisim/fakecontroller/internal/endpoints"
	"github.com/csisim/csisim/fakecontroller/internal/endpointslice"
	"github.com/csisim/csisim/fakecontroller/internal/kubernetesservice"
	"github.com/csisim/csisim/fakecontroller/internal/namespace"
	"github.com/csisim/csisim/fakecontroller/internal/rootca"
	"github.com/csisim/csisim/fakecontroller/internal/serviceaccount"
	"github.com/csisim/csisim/internal/world/component"
)

// StartForClients starts what nobody needs but clients of the API: those who delete
// namespaces, look for services, roles and the certificate, or watch leases. The address
// is where the API listens, not valid within a process; the authority is empty there.
func StartForClients(w *component.World, address netip.AddrPort, authority []byte) {
	kubernetesservice.Start(w, address)
	namespace.Start(w)
	serviceaccount.Start(w)
	endpoints.Start(w)
	endpointslice.Start(w)
	clusterroleaggregation.Start(w)
	if len(authority) > 0 {
		rootca.Start(w, authority)
	}
}
