package sim

import (
	"slices"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/world/component"
)

// faultSpace is the cluster in which the strategy of a run draws faults.
type faultSpace struct{ *Simulation }

// HasService reports whether a stand-in shows the requests of a driver's plugin.
func (c faultSpace) HasService(driver, node string) bool { return c.standInAccess(driver, node) != nil }

// HasVersions reports whether a driver has several releases.
func (c faultSpace) HasVersions(driver string) bool {
	d := c.driver(driver)
	return d != nil && len(d.versions()) > 0
}

// ProgramOf is the program that a component is or belongs to: a kubelet, a sidecar, or
// kube-controller-manager with all its controllers; empty if it cannot be killed.
func (c faultSpace) ProgramOf(of *component.Component) fault.Victim {
	if slices.ContainsFunc(c.nodes.All, func(n *cluster.Node) bool { return of.Keeps(&n.Pace) }) {
		return fault.Kubelet
	}
	return c.controllers.ProgramOf(of)
}
