package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/migration"
)

// Node is one node: its computer, and the kubelet while it runs.
type Node struct {
	fakekubelet.Options                      // options of the kubelet, for each of its starts
	Zone                string               // for stand-ins
	Network             *machine.Network     // its own network; nil for csisim's
	Kubelet             *fakekubelet.Kubelet // nil while it is down
	Off                 bool                 // the node has no power
	Pace                component.Pace       // of the kubelet

	stopped time.Duration // the time at which the kubelet went down last
	started time.Duration // when the kubelet started last
}

// Nodes are the nodes of a cluster.
type Nodes struct {
	// All are in the order of the cluster.
	All      []*Node
	World    *component.World
	Checks   *Checks
	Awaiting AwaitingRestart

	onChange []func(node string)
}

// Names returns the names of all nodes.
func (all *Nodes) Names() (names []string) {
	for _, n := range all.All {
		names = append(names, n.Name)
	}
	return names
}

// Find returns the node with a name; nil for none.
func (all *Nodes) Find(name string) *Node {
	i := slices.IndexFunc(all.All, func(n *Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return all.All[i]
}

// Named returns the node with a name.
func (all *Nodes) Named(name string) (*Node, error) {
	if n := all.Find(name); n != nil {
		return n, nil
	}
	return nil, &ConfigError{fmt.Sprintf("node %q", name), fmt.Sprintf("there is no such node; there are %v", all.Names())}
}

// HasKubelet reports whether the kubelet of a node runs; the control plane's kubelet always runs.
func (all *Nodes) HasKubelet(name string) bool {
	n := all.Find(name)
	return n == nil || n.Kubelet != nil
}

// IsOff reports whether a node has no power.
func (all *Nodes) IsOff(name string) bool {
	n := all.Find(name)
	return n != nil && n.Off
}

// StartKubelet starts the kubelet of a node.
func (all *Nodes) StartKubelet(n *Node) {
	o := n.Options
	o.Migration = migration.Of(n.Version).With(n.Migration)
	n.Kubelet = fakekubelet.Start(all.World, o)
	n.Kubelet.SetPace(&n.Pace)
	all.Checks.Invariants.KubeletStarted(n.Name)
	n.started = all.World.Kernel.Elapsed()
	all.changed(n)
}

// CrashKubelet kills the kubelet of a node. Its memory is lost.
func (all *Nodes) CrashKubelet(n *Node) {
	n.Kubelet.Crash()
	n.Kubelet = nil
	n.stopped = all.World.Kernel.Elapsed()
	all.changed(n)
}
