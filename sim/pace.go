package sim

import "time"

// SlowController gives each API request of a controller or sidecar a duration, also after a
// restart. Other events can then happen in the middle of its reaction. The default is zero.
func (c *Simulation) SlowController(name string, request time.Duration) error {
	found, err := c.controllers.Named(name)
	if err != nil {
		return err
	}
	c.World.Trace.Note("", "each request of %s takes %v", name, request)
	for _, ctl := range found {
		ctl.Pace.Request = request
	}
	return nil
}

// SlowKubelet is SlowController for the kubelet of a node.
func (c *Simulation) SlowKubelet(node string, request time.Duration) error {
	n, err := c.nodes.Named(node)
	if err != nil {
		return err
	}
	c.World.Trace.Note(node, "each request of the kubelet takes %v", request)
	n.Pace.Request = request
	return nil
}
