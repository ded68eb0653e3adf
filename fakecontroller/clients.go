package fakecontroller

import (
	"net/netip"

	"github.com/csisim/csisim/fakecontroller/internal/kubernetesservice"
	"github.com/csisim/csisim/fakecontroller/internal/rootca"
	"github.com/csisim/csisim/fakecontroller/internal/serviceaccount"
	"github.com/csisim/csisim/internal/world/component"
)

// StartForClients starts the two programs that publish the address of the API, and makes the
// objects that only clients of the API read. The address is the one on which the API listens. For
// an API that is served only within the process it is not valid, and the authority is empty.
func StartForClients(w *component.World, address netip.AddrPort, authority []byte) {
	kubernetesservice.Start(w, address)
	serviceaccount.StartInitial(w)
	if len(authority) > 0 {
		rootca.Start(w, authority)
	}
}
