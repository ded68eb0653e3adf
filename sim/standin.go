package sim

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/machine"
)

// startStandIns starts the stand-ins of a driver, before its programs.
func (c *Simulation) startStandIns(d *driver) error {
	for i, s := range d.StandIns {
		dir := filepath.Join(c.run.work.Path(), "standin", fmt.Sprintf("%s-%d", d.Name, i+1))
		if err := s.Start(dir); err != nil {
			return &EnvironmentError{Doing: "start a stand-in of driver " + d.Name, Err: err}
		}
		d.standIns = append(d.standIns, s)
	}
	for _, m := range c.controlPlanes {
		if err := d.furnish(Node{Name: controlPlaneName}, m); err != nil {
			return err
		}
	}
	for i, n := range c.nodes.All {
		if err := d.furnish(c.options.Nodes[i], n.Machine); err != nil {
			return err
		}
	}
	return nil
}

// furnish prepares a machine for a driver's programs.
func (d *driver) furnish(n Node, m machine.Machine) error {
	for _, s := range d.standIns {
		if err := s.Furnish(standin.Node{Name: n.Name, Zone: n.Zone, Machine: m}); err != nil {
			return &EnvironmentError{Doing: fmt.Sprintf("prepare %s for driver %s", n.Name, d.Name), Err: err}
		}
	}
	return nil
}

// standInAccess returns the access of the plugin on a node, or of the controller plugin, to a
// stand-in that shows its requests; nil without a stand-in or a driver.
func (d *driver) standInAccess(node string) *standin.Access {
	if d == nil {
		return nil
	}
	for _, s := range d.standIns {
		if service, shows := s.(standin.Service); shows {
			return &standin.Access{Service: service, Machine: cmp.Or(node, controlPlaneName)}
		}
	}
	return nil
}

// serviceAt returns the access of the program that serves a socket to such a stand-in; nil for
// none.
func (c *Simulation) serviceAt(s wire.Site) *standin.Access {
	return c.driver(s.Driver).standInAccess(s.Node)
}

func (c *Simulation) stopStandIns() error {
	var errs []error
	for _, d := range c.drivers {
		for _, s := range d.standIns {
			errs = append(errs, s.Stop())
		}
		d.standIns = nil
	}
	return errors.Join(errs...)
}

// FailStandIn makes an operation of one of a driver's stand-ins fail.
func (c *Simulation) FailStandIn(name string, f standin.Failure) error {
	var known []string
	for _, s := range c.standIns(name) {
		if slices.Contains(s.Operations(), f.Operation) {
			c.World.Trace.Note("", "%s of driver %s fails from now on", f.Operation, name)
			return s.Fail(f)
		}
		known = append(known, s.Operations()...)
	}
	return &ConfigError{Subject: fmt.Sprintf("operation %q", f.Operation), Problem: fmt.Sprintf("no stand-in of driver %q has it; there are %v", name, known)}
}

// RecoverStandIns ends all failures of a driver's stand-ins.
func (c *Simulation) RecoverStandIns(name string) error {
	c.World.Trace.Note("", "the services of driver %s work again", name)
	var errs []error
	for _, s := range c.standIns(name) {
		errs = append(errs, s.Recover())
	}
	return errors.Join(errs...)
}

func (c *Simulation) standIns(name string) []standin.StandIn {
	if d := c.driver(name); d != nil {
		return d.standIns
	}
	return nil
}
