package cluster

// AwaitingRestart lists the components that a fault has ended and will start again: a *Controller,
// a *Plugin, a *registrar.Registrar, a KubeletOf or a PowerOf.
type AwaitingRestart map[any]bool

// KubeletOf and PowerOf are the kubelet and the power of a node.
type (
	KubeletOf struct{ *Node }
	PowerOf   struct{ *Node }
)

// Settle removes a component that the scenario has ended or started, so that no fault starts it
// again. It reports whether a fault would have started it again.
func (a AwaitingRestart) Settle(component any) (was bool) {
	was = a[component]
	delete(a, component)
	return was
}
