package sim

import (
	"fmt"
	"time"

	"github.com/csisim/csisim/fakekubelet"
)

// ShutDown shuts a node down as its operating system does: the kubelet ends the
// pods, critical ones last, and waits for their volumes as long as grace says; then
// the power is off. It runs until then. Volumes that are still mounted are reported in
// the trace.
func (c *Simulation) ShutDown(name string, grace fakekubelet.ShutdownGrace) error {
	n, err := c.node(name)
	if err != nil {
		return err
	}
	if n.Off || n.Kubelet == nil {
		return &ConfigError{fmt.Sprintf("node %q", name), "it has no kubelet that runs: power-off needs none"}
	}
	c.note(name, "shutting down, %v for its pods", grace.Total)
	over := false
	n.Kubelet.ShutDown(grace, func(left error) {
		over = true
		if left != nil {
			c.note(name, "there was no time for all volumes: %v", left)
		}
	})
	if err := c.WaitFor("node "+name+" to end its pods", grace.Total+time.Minute, func() bool { return over }); err != nil {
		return err
	}
	return c.PowerOff(name)
}
