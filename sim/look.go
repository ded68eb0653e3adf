package sim

import (
	"github.com/csisim/csisim/internal/world/listing"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Exclusively calls use while the cluster is stopped. A test can thus observe a cluster that runs
// by the real clock. use must not call clients of the cluster.
func (c *Simulation) Exclusively(use func()) { c.run.gate.Enter(use) }

// KubeletDir returns the path that kubelets use for their directory.
func (c *Simulation) KubeletDir() string { return c.options.KubeletDir.KubeletDir() }

// Mounts returns the mounts of a node, sorted by target.
func (c *Simulation) Mounts(node string) ([]machine.Mount, error) {
	n, err := c.nodes.Named(node)
	if err != nil {
		return nil, err
	}
	return n.Machine.Mounts()
}

// Files lists a node's kubelet directory in the form of the recorded traces: directories with their
// modes, sockets, devices, links, mounts, and the content of volume data files.
func (c *Simulation) Files(name string) []string {
	n, err := c.nodes.Named(name)
	if err != nil {
		return nil
	}
	return listing.Of(n.Machine)
}

// RecordFiles writes this listing into the trace; when describes the moment.
func (c *Simulation) RecordFiles(node, when string) error {
	if _, err := c.nodes.Named(node); err != nil {
		return err
	}
	c.World.Trace.Add(trace.Entry{Kind: trace.Files, Node: node, Message: when, Detail: c.Files(node)})
	return nil
}

// Metrics returns the metrics of a node's kubelet in the format of its metrics endpoint; none while
// the kubelet is down.
func (c *Simulation) Metrics(name string) []string {
	n, err := c.nodes.Named(name)
	if err != nil || n.Kubelet == nil {
		return nil
	}
	return n.Kubelet.Metrics.Lines()
}
