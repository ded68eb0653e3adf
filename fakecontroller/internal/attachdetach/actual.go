package attachdetach

import (
	"time"

	"github.com/csisim/csisim/internal/world/ordered"
	"github.com/csisim/csisim/internal/world/volume"
)

// actualState is the actual state of world. It contains the certain and uncertain attachments, the
// volumes that nodes report as in use, and the lists for their status.
type actualState struct {
	volumes  map[string]*attachedVolume
	byNode   map[string]map[string]bool
	byObject map[string]pair            // pairs, by the name of the VolumeAttachment
	inUse    map[string]map[string]bool // node.status.volumesInUse, as last observed
	reports  map[string]map[string]bool // the desired node.status.volumesAttached
	flagged  map[string]bool            // nodes with a status that needs to be written
}

// attachedVolume is a volume that is, or may be, attached somewhere. The spec is
// shared by all its nodes. C-ADC-41
type attachedVolume struct {
	spec  *spec
	nodes ordered.Map[string, *attachment]
}

// attachment is the attachment of one volume to one node. It is uncertain until it is confirmed.
type attachment struct {
	confirmed bool
	// The in-tree plugin attached it, so it has no VolumeAttachment. L-ADC-2.
	inTree      bool
	detachAsked bool
	askedAt     time.Duration
}

func newActualState() actualState {
	return actualState{
		volumes:  map[string]*attachedVolume{},
		byNode:   map[string]map[string]bool{},
		byObject: map[string]pair{},
		inUse:    map[string]map[string]bool{},
		reports:  map[string]map[string]bool{},
		flagged:  map[string]bool{},
	}
}

// get returns nil for a detached volume.
func (a *actualState) get(at pair) *attachment {
	if v := a.volumes[at.volume]; v != nil {
		return v.nodes.Get(at.node)
	}
	return nil
}

func (a *actualState) confirmed(at pair) bool {
	found := a.get(at)
	return found != nil && found.confirmed
}

// markAttached records a confirmed attachment, which the node's status shows. C-ADC-42
func (a *actualState) markAttached(at pair, s *spec) {
	a.add(at, s).confirmed = true
	a.report(at)
}

// markInTree records that the in-tree plugin has attached a volume. The controller does not observe
// when the node stops using it.
func (a *actualState) markInTree(at pair, s *spec) {
	attachment := a.add(at, s)
	attachment.confirmed, attachment.inTree = true, true
	delete(a.inUse[at.node], at.volume)
}

// markUncertain records that a volume may be attached. The node's status does not change.
func (a *actualState) markUncertain(at pair, s *spec) { a.add(at, s).confirmed = false }

func (a *actualState) add(at pair, s *spec) *attachment {
	v := a.volumes[at.volume]
	if v == nil {
		v = &attachedVolume{}
		a.volumes[at.volume] = v
	}
	v.spec = s
	if _, known := v.nodes.Find(at.node); !known {
		v.nodes.Set(at.node, &attachment{})
		insert(a.byNode, at.node, at.volume)
		insert(a.inUse, at.node, at.volume) // C-ADC-40: mounted until the node says otherwise
		a.byObject[objectName(at)] = at
	}
	return v.nodes.Get(at.node)
}

// remove records that a volume is detached. C-ADC-42
func (a *actualState) remove(at pair) {
	v := a.volumes[at.volume]
	if a.get(at) == nil {
		return
	}
	v.nodes.Delete(at.node)
	if len(v.nodes) == 0 {
		delete(a.volumes, at.volume)
	}
	delete(a.byNode[at.node], at.volume)
	delete(a.byObject, objectName(at))
	a.unreport(at)
}

// report adds a volume to the list in the node's status.
func (a *actualState) report(at pair) {
	if !a.reports[at.node][at.volume] {
		insert(a.reports, at.node, at.volume)
		a.flagged[at.node] = true
	}
}

// unreport takes a volume off the list in the node's status.
func (a *actualState) unreport(at pair) {
	if a.reports[at.node][at.volume] {
		delete(a.reports[at.node], at.volume)
		a.flagged[at.node] = true
	}
}

// confirmedNodes returns the nodes to which a volume is certainly attached, sorted.
func (a *actualState) confirmedNodes(volume string) []string {
	v := a.volumes[volume]
	if v == nil {
		return nil
	}
	var nodes []string
	for _, on := range v.nodes {
		if on.Value.confirmed {
			nodes = append(nodes, on.Key)
		}
	}
	return nodes
}

func insert(sets map[string]map[string]bool, key, member string) {
	if sets[key] == nil {
		sets[key] = map[string]bool{}
	}
	sets[key][member] = true
}

// objectName returns the name of the VolumeAttachment of a pair. C-CSIP-1
func objectName(at pair) string {
	driver, handle, _ := volume.SplitUniqueName(at.volume)
	return volume.AttachmentName(handle, driver, at.node)
}
