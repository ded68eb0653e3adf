package sim

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/migration"
)

// node is one node: its computer, and the kubelet while it runs.
type node struct {
	Node
	address string // the node's own, on loopback
	machine machine.Machine
	network *machine.Network // its own; nil for that of csisim
	runtime *fakekubelet.Runtime
	kubelet *fakekubelet.Kubelet // nil while it is down
	stopped time.Duration        // when the kubelet went down last
	started time.Duration        // when the kubelet started last
	off     bool                 // the node has no power
	pace    component.Pace       // of the kubelet

	pressure fakekubelet.Pressure // shortages of the machine's resources
}

func newNode(c *Simulation, o Node, address string, m machine.Machine, networks *fakekubelet.Networks) *node {
	var programs fakekubelet.RuntimeOptions
	if c.options.hasImages() {
		programs = fakekubelet.RuntimeOptions{Images: c.options.Images, RootFS: c.options.RootFS, Machine: m, LogDir: c.logDir(), Networks: networks}
		if c.options.Pull != nil {
			programs.Pull = c.pull
		}
	}
	programs.RefuseUnmapped, programs.Lives = c.options.RefuseUnmapped, c.options.Lives
	n := &node{Node: o, address: address, machine: m, runtime: fakekubelet.NewRuntime(c.World, o.Name, programs), pressure: fakekubelet.Pressure{}}
	if networks != nil {
		n.network = networks.Node
	}
	return n
}

func (n *node) startKubelet(c *Simulation) {
	n.kubelet = fakekubelet.Start(c.World, fakekubelet.Options{
		Name: n.Name, Address: n.address, Labels: n.labels(), Taints: n.Taints, MaxPods: n.MaxPods, SELinux: n.SELinux, ChownTime: n.ChownTime,
		Version: n.Kubernetes, Migration: migration.Of(n.Kubernetes).With(n.Migration),
		Machine: n.machine, Runtime: n.runtime, Wire: c.Wire, Data: c.checks.Data, API: c.options.reach(), ClusterDNS: c.nameServer(),
		Pressure: n.pressure,
	})
	n.kubelet.SetPace(&n.pace)
	c.checks.Invariants.KubeletStarted(n.Name)
	n.started = c.World.Kernel.Elapsed()
	c.leases.Changed(n.Name)
}

func (n *node) crashKubelet(c *Simulation) {
	n.kubelet.Crash()
	n.kubelet = nil
	n.stopped = c.World.Kernel.Elapsed()
	c.leases.Changed(n.Name)
}

func (n *node) labels() map[string]string {
	labels := maps.Clone(n.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	if n.Zone != "" {
		labels[corev1.LabelTopologyZone] = n.Zone
	}
	if n.Region != "" {
		labels[corev1.LabelTopologyRegion] = n.Region
	}
	return labels
}

// kubelet is that of a node; false if there is no such node.
func (c *Simulation) kubelet(name string) (cluster.Kubelet, bool) {
	n, err := c.node(name)
	if err != nil {
		return cluster.Kubelet{}, false
	}
	return cluster.Kubelet{Runs: n.kubelet != nil, Started: n.started, Stopped: n.stopped}, true
}

// findNode finds a node for clients of the API.
func (c *Simulation) findNode(name string) (cluster.Node, bool) {
	n, err := c.node(name)
	if err != nil {
		return cluster.Node{}, false
	}
	return cluster.Node{Address: n.address, Runtime: n.runtime, Kubelet: n.kubelet}, true
}
