package fakecontroller

import (
	"net/netip"

	"github.com/csisim/csisim/fakecontroller/internal/kubernetesservice"
	"github.com/csisim/csisim/fakecontroller/internal/rootca"
	"github.com/csisim/csisim/fakecontroller/internal/serviceaccount"
	"github.com/csisim/csisim/internal/world/component"
)

// StartForClients starts the two programs that publish the address of the API, and creates the
// objects that only API clients read. The address is the one on which the API listens. If the API
// is served only within the process, the address is not valid and the authority is empty.
func StartForClients(w *component.World, address netip.AddrPort, authority []byte) {
	kubernetesservice.Start(w, address)
	serviceaccount.StartInitial(w)
	if len(authority) > 0 {
		rootca.Start(w, authority)
	}
}
