package scheduler

// plugin is the part of the scheduler that rejects a node. An event can make a pod schedulable only
// if a plugin that rejected the pod has registered for the event.
type plugin int

// The plugins in the order in which they check a node.
const (
	nodeUnschedulable plugin = iota
	taintToleration
	nodeAffinity
	nodePorts
	nodeResources
	volumeRestrictions
	nodeVolumeLimits
	volumeBinding
	volumeZone
	podTopologySpread
	interPodAffinity
	// claimsOfPod represents the checks of a pod that do not depend on a node.
	claimsOfPod
	pluginCount
)

// pluginSet is a set of plugins.
type pluginSet uint16

func setOf(plugins ...plugin) pluginSet {
	var set pluginSet
	for _, p := range plugins {
		set |= 1 << p
	}
	return set
}

func (s pluginSet) has(p plugin) bool { return s&(1<<p) != 0 }

// refusal is the reason why a pod cannot use a node, or any node. The zero value means that there
// is no refusal.
type refusal struct {
	plugin plugin
	reason string
	// forGood means that evicting other pods would not help.
	forGood bool
}
