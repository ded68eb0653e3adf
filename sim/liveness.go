package sim

import (
	"time"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/driver/livenessprobe"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/kernel"
)

// addLivenessProbe adds livenessprobe beside a plugin if its release has it, and makes the kubelet
// probe it.
func (c *Simulation) addLivenessProbe(p *plugin) {
	given := p.sidecars().LivenessProbe
	if given == nil || p.lacks(LivenessProbe) {
		return
	}
	options, d := *given, p.driver
	name := livenessprobe.Name + "/" + d.Name
	if p.node != "" {
		name += "/" + p.node
	}
	if p.name != "" {
		name += "/" + p.name
	}
	name = replicaName(name, p)
	at := sidecar.Target{Driver: d.Name, Node: p.node, Machine: p.machine, Socket: p.socket}
	endpoint := &livenessprobe.Endpoint{}
	c.addBeside(p, livenessprobe.Name, name, func(fakecontroller.Cluster) fakecontroller.Program {
		return livenessprobe.Start(c.World, c.Wire, options, at, endpoint)
	})

	container := livenessprobe.Container{
		Began:   func() (time.Duration, bool) { return p.began, p.running && c.nodes.HasKubelet(p.node) },
		Restart: func(why string) { c.restartUnhealthy(p, why) },
	}
	p.prober = kernel.NewGroup("livenessProbe of " + p.String())
	c.World.Kernel.Spawn(p.prober, p.prober.Name, func(process *kernel.Process) {
		livenessprobe.Probe(process, options, endpoint, container)
	})
}

// restartUnhealthy ends the container of a plugin as SIGTERM would, and restarts it after the
// kubelet's delay; the registrar and the sidecars continue to run. C-LIVE-3
func (c *Simulation) restartUnhealthy(p *plugin, why string) {
	c.World.Trace.Note(p.node, "%s failed its liveness probe, it will be restarted: %s", p, why)
	if err := p.stop(); err != nil {
		c.recordDeath(p, notStopped(p, err))
		return
	}
	c.disconnect(p)
	c.restartLater(p, (*kernel.Process).Sleep)
}

// endProbes ends the probes of the kubelet for a plugin that is uninstalled.
func (p *plugin) endProbes() {
	if p.prober != nil {
		p.prober.Crash()
		p.prober = nil
	}
}
