package scenario

import "github.com/csisim/csisim/sim"

func init() {
	register("stop-registrar", "Stops node-driver-registrar (SIGTERM): it removes its socket, and the driver is unregistered.",
		`stop-registrar: {node: node-a}`, &stopRegistrarStep{})
	register("kill-registrar", "Kills node-driver-registrar (SIGKILL): its socket file stays, and the kubelet does not notice.",
		`kill-registrar: {node: node-a}`, &killRegistrarStep{})
	register("start-registrar", "Starts node-driver-registrar: the driver is registered again.",
		`start-registrar: {node: node-a}`, &startRegistrarStep{})
}

// registrarFields select registrars.
type registrarFields struct {
	Driver string `json:"driver,omitempty" doc:"The driver; default the only one."`
	Node   string `json:"node" want:"required" example:"node-a" doc:"The node."`
	Plugin string `json:"plugin,omitempty" example:"v2" doc:"One of the driver's further plugins on the node; default the driver's own."`
}

func (s *registrarFields) check(c *checker) {
	c.driver("driver", s.Driver)
	if s.Node != "" {
		c.node("node", s.Node)
		c.plugin("plugin", s.Driver, s.Node, s.Plugin)
	}
}

func (s *registrarFields) registrar(r *runner) sim.PluginRegistrar {
	return sim.PluginRegistrar{Driver: pluginName(r.driver(s.Driver), s.Plugin), Node: s.Node}
}

type (
	stopRegistrarStep  struct{ registrarFields }
	killRegistrarStep  struct{ registrarFields }
	startRegistrarStep struct{ registrarFields }
)

func (s *stopRegistrarStep) do(r *runner) error {
	return r.cluster.Stop(s.registrar(r))
}

func (s *killRegistrarStep) do(r *runner) error {
	return r.cluster.Kill(s.registrar(r))
}

func (s *startRegistrarStep) do(r *runner) error {
	return r.cluster.Start(s.registrar(r))
}
