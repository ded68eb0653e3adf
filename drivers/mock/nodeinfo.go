package mock

import (
	"fmt"
	"maps"
)

// NodeInfo holds changes to the answer of NodeGetInfo; nil fields do not change.
type NodeInfo struct {
	NodeID     *string
	Topology   map[string]string
	MaxVolumes *int64 // 0 is unlimited
}

// ChangeNode changes the answer of a node's NodeGetInfo. A new id only renames the machine, so
// volumes stay attached. It returns an error if the driver does not know the node, or another node
// has the new id.
func (d *Driver) ChangeNode(id string, info NodeInfo) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	state := d.nodes[id]
	if state == nil {
		return fmt.Errorf("no plugin with node id %q was ever started", id)
	}
	renamed := info.NodeID != nil && *info.NodeID != id
	if renamed && d.nodes[*info.NodeID] != nil {
		return fmt.Errorf("another node has the id %q", *info.NodeID)
	}
	if info.Topology != nil {
		state.segments = maps.Clone(info.Topology)
	}
	if info.MaxVolumes != nil {
		state.limit = *info.MaxVolumes
	}
	if renamed {
		d.renameNode(state, *info.NodeID)
	}
	return nil
}

func (d *Driver) renameNode(state *nodeState, id string) {
	for _, v := range d.volumes { // any order: they are independent
		if at, attached := v.attachments.Find(state.id); attached {
			v.attachments.Delete(state.id)
			v.attachments.Set(id, at)
		}
	}
	delete(d.nodes, state.id)
	state.id = id
	d.nodes[id] = state
}
