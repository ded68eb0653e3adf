package scenario

import (
	"fmt"
	"slices"

	"github.com/csisim/csisim/sim"
)

func init() {
	register("kill-driver", "Kills a driver's plugin (SIGKILL): its socket file stays unless withSocket is true, and calls in progress are interrupted.",
		`kill-driver: {node: node-a}`, &killDriverStep{})
	register("start-driver", "Starts a driver's plugin that was killed or stopped, on a node with its registrar.",
		`start-driver: {node: node-a}`, &startDriverStep{})
	register("restart-driver", "Stops a driver's plugin and starts it again, as a rolling update does.",
		`restart-driver: {node: node-a}`, &restartDriverStep{})
}

// pluginFields select plugins of a driver: the controller plugin, the plugin on a node, or all of
// them if neither field is set.
type pluginFields struct {
	Driver     string `json:"driver,omitempty" doc:"The driver; default the only one."`
	Node       string `json:"node,omitempty" doc:"Its plugin on this node."`
	Plugin     string `json:"plugin,omitempty" example:"v2" doc:"With node: one of the driver's further plugins there; default the driver's own."`
	Controller bool   `json:"controller,omitempty" doc:"Its controller plugin; without node and controller all of its plugins."`
	Replica    uint   `json:"replica,omitempty" example:"2" doc:"With controller: one of its replicas, from 1; default all."`
}

func (s *pluginFields) check(c *checker) {
	c.driver("driver", s.Driver)
	if s.Node != "" {
		c.node("node", s.Node)
		c.plugin("plugin", s.Driver, s.Node, s.Plugin)
	} else if s.Plugin != "" {
		c.report("plugin", "plugin without node", "the node of the further plugin")
	}
	if s.Replica > 0 {
		c.replica(s)
	}
	if s.Node != "" && s.Controller {
		c.report("controller", "node and controller", "one of them; without both all plugins of the driver")
	}
}

// replica checks the number of a replica.
func (c *checker) replica(s *pluginFields) {
	if !s.Controller {
		c.report("replica", "replica without controller", "controller: true beside it")
		return
	}
	for _, d := range c.scenario.Drivers {
		if (d.name() == s.Driver || s.Driver == "" && len(c.scenario.Drivers) == 1) && s.Replica > max(1, d.Replicas) {
			c.report("replica", fmt.Sprintf("replica %d", s.Replica), fmt.Sprintf("a number up to %d, the replicas of the driver", max(1, d.Replicas)))
		}
	}
}

// each calls do with every selected plugin; the controller plugin's node is empty.
func (s *pluginFields) each(r *runner, do func(sim.Plugin) error) error {
	driver := r.driver(s.Driver)
	switch {
	case s.Replica > 0:
		return do(sim.Plugin{Driver: pluginName(driver, fmt.Sprint(s.Replica))})
	case s.Controller:
		return do(sim.Plugin{Driver: driver})
	case s.Node != "":
		return do(sim.Plugin{Driver: pluginName(driver, s.Plugin), Node: s.Node})
	}
	for _, node := range r.plugins(driver) {
		if err := do(sim.Plugin{Driver: driver, Node: node}); err != nil {
			return err
		}
	}
	return nil
}

// plugins returns the nodes with a driver's plugin, and "" for its controller plugin.
func (r *runner) plugins(driver string) []string {
	nodes := slices.Clone(r.cluster.DriverNodes(driver))
	for _, d := range r.scenario.Drivers {
		if (d.name() == driver || d.name() == "") && d.hasController() {
			nodes = append([]string{""}, nodes...)
		}
	}
	return nodes
}

type (
	killDriverStep struct {
		pluginFields
		WithSocket bool `json:"withSocket,omitempty" doc:"Removes its socket file, too; the registrar of a node's plugin continues, and the kubelet keeps the driver registered; default false."`
	}
	startDriverStep   struct{ pluginFields }
	restartDriverStep struct{ pluginFields }
)

func (s *killDriverStep) do(r *runner) error {
	return s.each(r, func(p sim.Plugin) error {
		p.WithSocket = s.WithSocket
		return r.cluster.Kill(p)
	})
}
func (s *startDriverStep) do(r *runner) error {
	return s.each(r, func(p sim.Plugin) error { return r.cluster.Start(p) })
}

func (s *restartDriverStep) do(r *runner) error {
	return s.each(r, func(p sim.Plugin) error {
		if err := r.cluster.Stop(p); err != nil {
			return err
		}
		return r.cluster.Start(p)
	})
}
