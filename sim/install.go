package sim

import (
	"errors"
	"fmt"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/world/store"
)

// Install deploys a driver that came with Later, or was uninstalled: its plugins,
// sidecars and CSIDriver object. Its backend is unchanged.
func (c *Simulation) Install(name string) error {
	d, err := c.driverNamed(name)
	if err != nil {
		return err
	}
	if d.installed() {
		return &ConfigError{Subject: fmt.Sprintf("driver %q", name), Problem: "it is installed already"}
	}
	c.World.Trace.Note("", "driver %s installed", name)
	if err := c.startDriver(d); err != nil {
		return err
	}
	for _, m := range c.controlPlanes {
		c.checks.Watch.See(m, nil)
	}
	for _, n := range c.nodes.All {
		c.checks.Watch.See(n.Machine, nil)
	}
	first := len(c.controllers.All)
	c.addSnapshotController()
	c.addSidecars(d)
	if err := c.addAddons(d); err != nil {
		return err
	}
	for _, ctl := range c.controllers.All[first:] {
		ctl.Run()
	}
	return nil
}

// Uninstall deletes a driver's deployment: its sidecars die, its plugins and
// registrars are stopped, its CSIDriver object goes. Whatever of its volumes is
// attached, mounted or claimed stays so.
func (c *Simulation) Uninstall(name string) error {
	d, err := c.driverNamed(name)
	if err != nil {
		return err
	}
	if !d.installed() {
		return &ConfigError{Subject: fmt.Sprintf("driver %q", name), Problem: "it is not installed"}
	}
	c.World.Trace.Note("", "driver %s uninstalled", name)
	var sidecars []*cluster.Controller
	for _, p := range c.plugins(d) {
		sidecars = append(sidecars, p.beside...)
	}
	c.controllers.Remove(sidecars)
	var errs []error
	for _, p := range c.plugins(d) {
		p.endProbes()
		if p.registrar != nil {
			errs = append(errs, p.registrar.Stop())
		}
		errs = append(errs, p.stop())
	}
	d.controller, d.replicas, d.nodes, d.further = nil, nil, map[string]*plugin{}, nil
	return errors.Join(append(errs, c.removeCSIDriver(d))...)
}

// installed reports whether there are plugins of the driver.
func (d *driver) installed() bool { return d.controller != nil || len(d.nodes) > 0 }

func (c *Simulation) removeCSIDriver(d *driver) error {
	if d.registersItself() {
		return nil
	}
	if _, ok := store.Get[*storagev1.CSIDriver](c.World.Store, store.Key{Name: d.Name}); !ok {
		return nil
	}
	_, err := store.Delete[*storagev1.CSIDriver](c.World.Store, store.Key{Name: d.Name})
	return err
}
