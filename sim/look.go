package sim

import "github.com/csisim/csisim/internal/world/machine"

// Exclusively runs use while nothing else happens in the cluster, for a look at one
// that lives by the real clock. Use must not call clients of the cluster.
func (c *Simulation) Exclusively(use func()) { c.run.gate.Enter(use) }

// KubeletDir returns the path by which kubelets name their directory.
func (c *Simulation) KubeletDir() string { return c.options.KubeletDir.KubeletDir() }

// Mounts returns the mounts of a node, sorted by target.
func (c *Simulation) Mounts(node string) ([]machine.Mount, error) {
	n, err := c.node(node)
	if err != nil {
		return nil, err
	}
	return n.machine.Mounts()
}
