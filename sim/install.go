package sim

import "fmt"

// Install deploys a driver that came with Later, or was uninstalled: its plugins,
// sidecars and CSIDriver object. Its backend is unchanged.
func (c *Simulation) Install(name string) error {
	d, err := c.drivers.Named(name)
	if err != nil {
		return err
	}
	if d.Installed() {
		return &ConfigError{Subject: fmt.Sprintf("driver %q", name), Problem: "it is installed already"}
	}
	c.World.Trace.Note("", "driver %s installed", name)
	if err := c.drivers.Start(d); err != nil {
		return err
	}
	c.drivers.SeeMachines()
	first := len(c.controllers.All)
	c.drivers.AddSnapshotController()
	c.drivers.AddSidecars(d)
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
func (c *Simulation) Uninstall(name string) error { return c.drivers.Uninstall(name) }
