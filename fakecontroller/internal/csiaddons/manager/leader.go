package manager

import (
	"fmt"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
)

// lease is the Lease of managers with --leader-elect. A-ARCH-1
const lease = "e8cd140a.openshift.io"

// StartElecting runs the controller manager, which works while it holds its Lease. If it loses the
// Lease, it exits and is restarted. A leader is identified by its pod and its start. After a
// restart it waits until its own lease expires. A-ARCH-1
func StartElecting(w *component.World, network *relay.Network, o Options) *sidecar.Program {
	unlimited := sidecar.Flags{KubeAPIQPS: -1} // A-SIDE-6
	return sidecar.Run(w, unlimited, func(life *sidecar.Life) *component.Component {
		m := &Manager{Component: w.Start(Name, ""), opts: o.withDefaults(), network: network}
		m.Go("main", func(p *kernel.Process) {
			m.main(p, func(p *kernel.Process) {
				life.Elect(p, sidecar.Lock{Namespace: m.opts.Namespace, Name: lease, Identity: fmt.Sprintf("%s-0_%08x", Name, p.ID())})
			})
		})
		return m.Component
	})
}
