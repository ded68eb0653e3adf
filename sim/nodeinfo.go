package sim

import (
	"fmt"
	"maps"

	"github.com/csisim/csisim/drivers/mock"
)

// ChangeNode changes the answer of the mock driver to NodeGetInfo for a node, from the next call
// on. The name is that of the driver or, for a further plugin, "driver/plugin".
func (c *Simulation) ChangeNode(name, node string, info mock.NodeInfo) error {
	p, err := c.plugin(name, node)
	if err != nil {
		return err
	}
	d, subject := p.driver, fmt.Sprintf("driver %q", name)
	switch {
	case d.mock == nil:
		return &ConfigError{subject, "only the mock can change its information about a node; restart a program with other arguments"}
	case info.Topology != nil && !d.Mock.Topology:
		return &ConfigError{subject, "it has no topology: its options need topology: true"}
	}
	if err := d.mock.ChangeNode(p.nodeID(), info); err != nil {
		return &ConfigError{subject, err.Error()}
	}
	c.note(node, "%s changes the information about its node", p)
	if info.Topology != nil {
		p.segments = info.Topology
	}
	if info.NodeID != nil {
		p.rename(*info.NodeID)
	}
	return nil
}

// rename sets the node id for the next start of the plugin.
func (p *plugin) rename(id string) {
	if p.name != "" {
		p.id = id
		return
	}
	ids := maps.Clone(p.driver.NodeIDs)
	if ids == nil {
		ids = map[string]string{}
	}
	ids[p.node] = id
	p.driver.NodeIDs = ids
}
