package fakecontroller

import (
	"net/netip"

	"github.com/csisim/csisim/fakecontroller/internal/kubernetesservice"
	"github.com/csisim/csisim/fakecontroller/internal/rootca"
	"github.com/csisim/csisim/fakecontroller/internal/serviceaccount"
	"github.com/csisim/csisim/internal/world/component"
)

// StartForClients starts the two programs that publish facts about the address of the API, which
// has none before it is served, and makes the objects that only its clients look at. The address
// is where the API listens, not valid within a process; the authority is empty there.
func StartForClients(w *component.World, address netip.AddrPort, authority []byte) {
	kubernetesservice.Start(w, address)
	serviceaccount.StartInitial(w)
	if len(authority) > 0 {
		rootca.Start(w, authority)
	}
}
