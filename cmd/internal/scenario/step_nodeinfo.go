package scenario

import (
	"fmt"

	"github.com/csisim/csisim/drivers/mock"
)

func init() {
	register("node-info", "Changes the mock driver's answer to NodeGetInfo on a node, from the next call on.",
		`node-info: {node: node-a, maxVolumes: 3}`, &nodeInfoStep{})
}

// nodeInfoStep changes the information that a mock driver returns for a node.
type nodeInfoStep struct {
	Driver     string            `json:"driver,omitempty" doc:"The driver; default the only one."`
	Node       string            `json:"node" want:"required" example:"node-a" doc:"The node."`
	Plugin     string            `json:"plugin,omitempty" doc:"One of the driver's plugins on the node; default the driver's own."`
	NodeID     *string           `json:"nodeID,omitempty" example:"node-a-renamed" doc:"Its node id; volumes that are attached to the node stay attached under the new id."`
	Topology   map[string]string `json:"topology,omitempty" doc:"Its topology segments; the driver needs topology: true."`
	MaxVolumes *int64            `json:"maxVolumes,omitempty" doc:"Its attach limit, which is enforced; 0 is unlimited."`
}

func (s *nodeInfoStep) check(c *checker) {
	c.driver("driver", s.Driver)
	if s.Node != "" {
		c.node("node", s.Node)
		c.plugin("plugin", s.Driver, s.Node, s.Plugin)
	}
	switch {
	case s.NodeID == nil && s.Topology == nil && s.MaxVolumes == nil:
		c.report("", "nothing that changes", "a nodeID, topology or maxVolumes")
	case s.MaxVolumes != nil && *s.MaxVolumes < 0:
		c.report("maxVolumes", fmt.Sprintf("number %d", *s.MaxVolumes), "a number from 0; 0 is unlimited")
	}
	for _, d := range c.scenario.Drivers {
		if s.Driver != "" && d.name() != s.Driver {
			continue
		}
		switch {
		case d.Mock == nil:
			c.report("driver", "a driver that is no mock", "a mock: the answers of a program cannot be changed")
		case s.Topology != nil && !d.Mock.Topology:
			c.report("topology", "topology of a driver that has none", "topology: true among the driver's options")
		}
	}
}

func (s *nodeInfoStep) do(r *runner) error {
	name := pluginName(r.driver(s.Driver), s.Plugin)
	return r.cluster.ChangeNode(name, s.Node, mock.NodeInfo{NodeID: s.NodeID, Topology: s.Topology, MaxVolumes: s.MaxVolumes})
}
