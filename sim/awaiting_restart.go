package sim

import (
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/driver/registrar"
)

// awaitingRestart lists the components that a fault has ended and will start again: a
// *cluster.Controller, a *plugin, a *registrar.Registrar, a kubeletOf or a powerOf.
type awaitingRestart map[any]bool

type (
	kubeletOf struct{ *cluster.Node }
	powerOf   struct{ *cluster.Node }
)

// settle removes a component that the scenario has ended or started: no fault starts it again. It
// reports whether a fault would have done so.
func (f awaitingRestart) settle(component any) (was bool) {
	was = f[component]
	delete(f, component)
	return was
}

// runs reports whether there is something to end.
func runs(component any) bool {
	switch is := component.(type) {
	case *cluster.Controller:
		return is.Runs()
	case *plugin:
		return is.running
	case *registrar.Registrar:
		return is.Running()
	case kubeletOf:
		return is.Kubelet != nil
	case powerOf:
		return !is.Off
	}
	return false
}
