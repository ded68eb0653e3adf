//go:build linux

package release

import (
	"cmp"
	"path/filepath"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

// changedNodeIDs gives nodes other ids.
var changedNodeIDs = defect{configure: func(c *service.Config) {
	if c.Node {
		c.NodeID = "v2-" + c.NodeID
	}
}}

// changedTopology names the topology of nodes by other keys.
var changedTopology = defect{configure: func(c *service.Config) {
	renamed := map[string]string{}
	for key, value := range c.Topology {
		renamed["v2."+key] = value
	}
	c.Topology = renamed
}}

// droppedStaging does without NodeStageVolume, also for volumes that are staged.
var droppedStaging = defect{configure: func(c *service.Config) { c.Stage = false }}

// forgottenRecords keeps the records of the node elsewhere. A mount without a record stays.
var forgottenRecords = defect{configure: func(c *service.Config) {
	c.NodeStateDir = filepath.Join(cmp.Or(c.NodeStateDir, c.StateDir), "v2")
	c.TrustsRecords = true
}}
