package scenario

import "github.com/csisim/csisim/sim"

func init() {
	register("stop-driver", "Stops a driver's plugin (SIGTERM), on a node with its registrar, so that it is unregistered.",
		`stop-driver: {driver: mock.csi.csisim.dev, controller: true}`, &stopDriverStep{})
}

// stopDriverStep stops plugins, with their registrars or without.
type stopDriverStep struct {
	pluginFields
	KeepRegistrar bool `json:"keepRegistrar,omitempty" doc:"Leaves the registrar of a node's plugin running: the plugin's process and socket are gone, and the kubelet keeps the driver registered; default false."`
}

func (s *stopDriverStep) check(c *checker) {
	s.pluginFields.check(c)
	if s.KeepRegistrar && s.Controller {
		c.report("keepRegistrar", "keepRegistrar of a controller plugin, which has no registrar", "node, or no controller")
	}
}

func (s *stopDriverStep) do(r *runner) error {
	return s.each(r, func(p sim.Plugin) error {
		p.Alone = s.KeepRegistrar
		return r.cluster.Stop(p)
	})
}
