package cluster

import (
	"time"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/driver/livenessprobe"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/kernel"
)

// addLivenessProbe adds livenessprobe beside a plugin if its release has it, and makes the kubelet
// probe it.
func (ds *Drivers) addLivenessProbe(p *Plugin) {
	given := p.Sidecars().LivenessProbe
	if given == nil || p.lacks(livenessprobe.Name) {
		return
	}
	options, d := *given, p.Driver
	name := livenessprobe.Name + "/" + d.Name
	if p.Node != "" {
		name += "/" + p.Node
	}
	if p.Name != "" {
		name += "/" + p.Name
	}
	name = replicaName(name, p)
	at := sidecar.Target{Driver: d.Name, Node: p.Node, Machine: p.Machine, Socket: p.Socket}
	endpoint := &livenessprobe.Endpoint{}
	ds.addBeside(p, livenessprobe.Name, name, func(fakecontroller.Cluster) fakecontroller.Program {
		return livenessprobe.Start(ds.World, ds.Wire, options, at, endpoint)
	})

	container := livenessprobe.Container{
		Began:   func() (time.Duration, bool) { return p.Began, p.Running && ds.Nodes.HasKubelet(p.Node) },
		Restart: func(why string) { ds.restartUnhealthy(p, why) },
	}
	p.prober = kernel.NewGroup("livenessProbe of " + p.String())
	ds.World.Kernel.Spawn(p.prober, p.prober.Name, func(process *kernel.Process) {
		livenessprobe.Probe(process, options, endpoint, container)
	})
}

// restartUnhealthy ends the container of a plugin like SIGTERM, and restarts it after the kubelet's
// delay; the registrar and the sidecars continue to run. C-LIVE-3
func (ds *Drivers) restartUnhealthy(p *Plugin, why string) {
	ds.World.Trace.Note(p.Node, "%s failed its liveness probe, it will be restarted: %s", p, why)
	if err := p.stop(); err != nil {
		ds.recordDeath(p, notStopped(p, err))
		return
	}
	ds.disconnect(p)
	ds.restartLater(p, (*kernel.Process).Sleep)
}

// endProbes ends the probes of the kubelet for a plugin that is uninstalled.
func (p *Plugin) endProbes() {
	if p.prober != nil {
		p.prober.Crash()
		p.prober = nil
	}
}
