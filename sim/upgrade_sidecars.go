package sim

import (
	"slices"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/cluster"
)

// sidecars are the flags of the sidecars in the pod of a plugin.
func (p *plugin) sidecars() Sidecars {
	if own := p.driver.Deployments[p.version].Sidecars; own != nil {
		return *own
	}
	return p.driver.Sidecars
}

// lacks reports whether the simulation does not run a sidecar in the pod of a plugin: another
// program runs it, or there is none.
func (p *plugin) lacks(s Sidecar) bool {
	release := p.driver.Deployments[p.version]
	if release.Sidecars == nil {
		return p.driver.external(s)
	}
	return slices.Contains(p.driver.External, s) || slices.Contains(release.Without, s)
}

// endSidecars ends the sidecars in a pod. Those of CSI-Addons have pods of their own.
func (c *Simulation) endSidecars(p *plugin) {
	p.endProbes()
	var gone []*cluster.Controller
	p.beside = slices.DeleteFunc(p.beside, func(s *cluster.Controller) bool {
		if s.Sidecar == fakecontroller.AddonsSidecar {
			return false
		}
		c.awaitingRestart.settle(s)
		gone = append(gone, s)
		return true
	})
	c.controllers.Remove(gone)
}

// renewSidecars starts the sidecars of a pod if it is new: those of its release, as far as the
// driver has their capabilities.
func (c *Simulation) renewSidecars(p *plugin) {
	if !p.renewed {
		return
	}
	p.renewed = false
	c.endSidecars(p)
	d, first := p.driver, len(c.controllers.All)
	if slices.Contains(d.controllers(), p) {
		// Sidecars request the capabilities of a driver that does not answer, too, and report it.
		if promised, err := p.promises(); err == nil {
			d.promised = promised
		}
		c.addSnapshotController()
	}
	c.addSidecarsOf(p)
	for _, ctl := range c.controllers.All[first:] {
		ctl.Run()
	}
}
