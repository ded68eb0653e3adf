package sim

import (
	"errors"
	"fmt"

	"github.com/csisim/csisim/internal/cluster"
)

// outage lists the components that had power when a whole cluster lost it.
type outage struct {
	nodes       []string
	plugins     []*plugin
	controllers []*cluster.Controller
}

// PowerOffAll cuts the power of the whole cluster: all nodes, the control plane and the controller
// plugins. The objects of the API stay, and cannot be changed meanwhile.
func (c *Simulation) PowerOffAll() error {
	if err := c.Powered(); err != nil {
		return err
	}
	c.note("", "power of the cluster lost")
	c.off = &outage{}
	var errs []error
	for _, n := range c.nodes.All {
		if !n.Off {
			c.off.nodes = append(c.off.nodes, n.Name)
			errs = append(errs, c.PowerOff(n.Name))
		}
	}
	for _, ctl := range c.controllers.All {
		if ctl.Runs() {
			c.off.controllers = append(c.off.controllers, ctl)
			ctl.Crash()
		}
	}
	for _, d := range c.drivers {
		for _, p := range d.controllers() {
			if p.node != "" || !p.running {
				continue
			}
			c.off.plugins = append(c.off.plugins, p)
			c.cutPower(p)
		}
	}
	for _, m := range c.controlPlanes {
		errs = append(errs, m.PowerOff())
	}
	return errors.Join(errs...)
}

// PowerOnAll gives the cluster its power back: all that ran begins again.
func (c *Simulation) PowerOnAll() error {
	if c.off == nil {
		return &ConfigError{"cluster " + c.cluster, "it has power"}
	}
	c.note("", "power of the cluster is back")
	before := c.off
	c.off = nil
	var errs []error
	for _, p := range before.plugins {
		errs = append(errs, c.bringUp(p))
	}
	for _, ctl := range before.controllers {
		ctl.Run()
	}
	for _, name := range before.nodes {
		errs = append(errs, c.PowerOn(name))
	}
	return errors.Join(errs...)
}

// Powered returns an error if the whole cluster has no power: its API cannot be reached then.
func (c *Simulation) Powered() error {
	if c.off != nil {
		return &ConfigError{fmt.Sprintf("cluster %q", c.cluster), "it has no power"}
	}
	return nil
}

// cutPower ends a plugin as its machine loses power.
func (c *Simulation) cutPower(p *plugin) {
	p.running = false
	p.orders++
	p.backend.lostPower()
	c.disconnect(p)
}
