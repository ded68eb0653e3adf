package sim

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/csisim/csisim/internal/driver/wire"
)

// checkFurther returns the first mistake in a driver's further plugins.
func (d Driver) checkFurther(subject string, nodes map[string]bool) error {
	seen := map[FurtherPlugin]bool{}
	for _, p := range d.Further {
		key := FurtherPlugin{Name: p.Name, Node: p.Node}
		switch {
		case d.Socket != nil || d.isSingle():
			return &ConfigError{Subject: subject, Problem: "only a mock, servers or a program per node can have further plugins"}
		case len(validation.IsDNS1123Label(p.Name)) > 0:
			return &ConfigError{Subject: subject, Problem: fmt.Sprintf("the name %q of a further plugin is not a DNS label", p.Name)}
		case !nodes[p.Node]:
			return &ConfigError{Subject: subject, Problem: fmt.Sprintf("plugin %q is on node %q, which does not exist", p.Name, p.Node)}
		case seen[key]:
			return &ConfigError{Subject: subject, Problem: fmt.Sprintf("node %q has two plugins %q", p.Node, p.Name)}
		case p.Registry != "" && len(validation.IsDNS1123Label(p.Registry)) > 0:
			return &ConfigError{Subject: subject, Problem: fmt.Sprintf("the registry %q of plugin %q is not the name of a directory", p.Registry, p.Name)}
		}
		seen[key] = true
	}
	return nil
}

// addFurther makes a driver's further plugins, which are down.
func (c *Simulation) addFurther(d *driver) error {
	for _, o := range d.Further {
		n, err := c.nodes.Named(o.Node)
		if err != nil {
			return err
		}
		p := &plugin{
			driver: d, node: n.Name, name: o.Name, id: o.NodeID, zone: d.zone(c.options.Nodes[slices.Index(c.nodes.All, n)]), machine: n.Machine,
			registry: o.Registry, refused: o.Refused, interrupt: c.options.Context, elapsed: c.World.Kernel.Elapsed,
		}
		p.socket, p.addons = d.socketIn(p.machine, d.directory+"-"+o.Name), d.addonsSocketIn(p.machine, d.directory+"-"+o.Name)
		if err := c.giveBackend(p); err != nil {
			return err
		}
		if !d.external(Registrar) {
			p.registrar = c.registrarOf(p)
		}
		d.further = append(d.further, p)
	}
	return nil
}

// furtherPlugin is nil if the node has none of the name.
func (d *driver) furtherPlugin(name, node string) *plugin {
	i := slices.IndexFunc(d.further, func(p *plugin) bool { return p.name == name && p.node == node })
	if i < 0 {
		return nil
	}
	return d.further[i]
}

// on are a driver's plugins on a node, its own first.
func (d *driver) on(node string) []*plugin {
	var all []*plugin
	if p := d.nodes[node]; p != nil {
		all = append(all, p)
	}
	for _, p := range d.further {
		if p.node == node {
			all = append(all, p)
		}
	}
	return all
}

// nodeID is the CSI node id that the plugin is given.
func (p *plugin) nodeID() string { return cmp.Or(p.id, p.driver.nodeID(p.node)) }

// idsOf are the ids by which the driver's plugins know a node.
func (d *driver) idsOf(node string) []string {
	ids := []string{d.nodeID(node)}
	for _, p := range d.on(node) {
		ids = append(ids, p.nodeID())
	}
	return ids
}

// pluginAt names the plugin that a call is made to: "driver" or "driver/plugin".
func (c *Simulation) pluginAt(at wire.Site) string {
	d := c.driver(at.Driver)
	if d == nil {
		return at.Driver
	}
	for _, p := range d.replicas {
		if p.servesAt(at) {
			return fmt.Sprintf("%s/%d", d.Name, p.replica)
		}
	}
	if at.Node == "" && len(d.replicas) > 0 {
		return d.Name + "/1"
	}
	for _, p := range d.on(at.Node) {
		if p.socket == at.Socket && p.name != "" {
			return d.Name + "/" + p.name
		}
	}
	return at.Driver
}
