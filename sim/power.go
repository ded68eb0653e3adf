package sim

import (
	"fmt"
	"time"

	"github.com/csisim/csisim/fakekubelet"
)

// PowerOff cuts the power of a node: its kubelet, containers, driver programs and mounts end at
// once. Its files stay, except those that driver programs have written to its disk and not synced.
func (c *Simulation) PowerOff(name string) error { return c.power.Off(name) }

// PowerOn boots a node: drivers and their registrars, then the kubelet.
func (c *Simulation) PowerOn(name string) error { return c.power.On(name) }

// PowerOffAll cuts the power of the whole cluster: all nodes, the control plane and the controller
// plugins. The objects of the API remain, and cannot be changed meanwhile.
func (c *Simulation) PowerOffAll() error { return c.power.OffAll() }

// PowerOnAll restores the power of the cluster, and starts the components that ran before.
func (c *Simulation) PowerOnAll() error { return c.power.OnAll() }

// Powered returns an error if the whole cluster has no power: its API cannot be reached then.
func (c *Simulation) Powered() error { return c.power.Powered() }

// ShutDown shuts a node down like its operating system, and runs until the power is off. Before
// that, the kubelet ends the pods, critical ones last, and waits for their volumes within grace.
// Volumes that are still mounted are reported in the trace.
func (c *Simulation) ShutDown(name string, grace fakekubelet.ShutdownGrace) error {
	n, err := c.nodes.Named(name)
	if err != nil {
		return err
	}
	if n.Off || n.Kubelet == nil {
		return &ConfigError{Subject: fmt.Sprintf("node %q", name), Problem: "it has no kubelet that runs: power-off needs none"}
	}
	c.World.Trace.Note(name, "shutting down, %v for its pods", grace.Total)
	over := false
	n.Kubelet.ShutDown(grace, func(left error) {
		over = true
		if left != nil {
			c.World.Trace.Note(name, "there was no time for all volumes: %v", left)
		}
	})
	if err := c.WaitFor("node "+name+" to end its pods", grace.Total+time.Minute, func() bool { return over }); err != nil {
		return err
	}
	return c.PowerOff(name)
}
