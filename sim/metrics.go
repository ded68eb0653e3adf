package sim

// Metrics are those of a node's kubelet, as its metrics endpoint would show them;
// none while it is down.
func (c *Simulation) Metrics(name string) []string {
	n, err := c.node(name)
	if err != nil || n.kubelet == nil {
		return nil
	}
	return n.kubelet.Metrics.Lines()
}
