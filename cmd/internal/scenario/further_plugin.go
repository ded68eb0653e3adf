package scenario

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/sim"
)

// FurtherPlugin is an additional plugin of a driver on a node.
type FurtherPlugin struct {
	Name     string `json:"name" want:"required" example:"v2" doc:"Its name in steps; its directory is the driver's directory with the suffix -name."`
	Node     string `json:"node" want:"required" example:"node-a" doc:"Its node."`
	NodeID   string `json:"nodeID,omitempty" doc:"Its CSI node id; the default is that of the driver's own plugin."`
	Registry string `json:"registry,omitempty" example:"second" doc:"The directory below plugins_registry for its registration socket; by default it takes over the registration socket of the driver's own plugin."`

	Refused registrar.Refused `json:"refused,omitempty" enum:"exit|stay" doc:"Whether its registrar exits or stays when the kubelet refuses the driver; the default is the same as for the driver's own plugin."`
}

func (d Driver) furtherPlugins() []sim.FurtherPlugin {
	var all []sim.FurtherPlugin
	for _, p := range d.Plugins {
		all = append(all, sim.FurtherPlugin{Name: p.Name, Node: p.Node, NodeID: p.NodeID, Registry: p.Registry, Refused: p.Refused})
	}
	return all
}

func (c *checker) checkPlugins(d Driver) {
	if len(d.Plugins) > 0 && (d.Socket != nil || d.Program != nil && d.Program.Single) {
		c.report("plugins", "plugins with socket or single", "further plugins of a mock, a profile or a program that each node has its own of")
	}
	for i, p := range d.Plugins {
		c.at(strict.Index(c.in("plugins"), i), func() {
			c.node("node", p.Node)
			// The order has no effect, because reports are sorted.
			for field, name := range map[string]string{"name": p.Name, "registry": p.Registry} {
				if name != "" && len(validation.IsDNS1123Label(name)) > 0 {
					c.report(field, fmt.Sprintf("%s %q", field, name), `lower-case letters, digits and -, such as "v2"`)
				}
			}
			same := func(other FurtherPlugin) bool { return other.Name == p.Name && other.Node == p.Node }
			if slices.ContainsFunc(d.Plugins[:i], same) {
				c.report("name", fmt.Sprintf("plugin %q on %s a second time", p.Name, p.Node), "each name once on a node")
			}
		})
	}
}

// plugin checks the name of a driver's additional plugin on a node.
func (c *checker) plugin(field, driver, node, name string) {
	if name == "" {
		return
	}
	var known []string
	for _, d := range c.scenario.Drivers {
		for _, p := range d.Plugins {
			if (driver == "" || d.name() == driver) && p.Node == node && !slices.Contains(known, p.Name) {
				known = append(known, p.Name)
			}
		}
	}
	if !slices.Contains(known, name) {
		c.unknown(field, "plugin on "+node, name, known)
	}
}

// pluginName returns the name of a plugin in the simulator: the driver's name or, for an additional
// plugin, driver/plugin.
func pluginName(driver, plugin string) string {
	if plugin == "" {
		return driver
	}
	return driver + "/" + plugin
}
