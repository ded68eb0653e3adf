package outcome

import (
	"maps"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
)

// OtherNode returns the id of another node of the driver; empty if there is none.
func (j *Judge) OtherNode(driver, id string) string {
	nodes := j.nodeIDs[driver]
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		if nodes[name] != id {
			return nodes[name]
		}
	}
	return ""
}

// OtherVolume returns the id of another volume that the driver has created; empty if there is none.
func (j *Judge) OtherVolume(driver, id string) string {
	named := j.named[driver]
	if named == nil {
		return ""
	}
	return named.Other("Controller/CreateVolume", id)
}

// learnNode stores the ids that nodes return for themselves.
func (j *Judge) learnNode(c Call) {
	info, ok := c.Answer().(*csi.NodeGetInfoResponse)
	if !ok {
		return
	}
	if j.nodeIDs[c.Driver()] == nil {
		j.nodeIDs[c.Driver()] = map[string]string{}
	}
	j.nodeIDs[c.Driver()][c.Node()] = info.GetNodeId()
}
