package sim

// Install deploys a driver that came with Later, or was uninstalled: its plugins,
// sidecars and CSIDriver object. Its backend is unchanged.
func (c *Simulation) Install(name string) error { return c.drivers.Install(name) }

// Uninstall deletes a driver's deployment: its sidecars die, its plugins and
// registrars are stopped, its CSIDriver object goes. Whatever of its volumes is
// attached, mounted or claimed stays so.
func (c *Simulation) Uninstall(name string) error { return c.drivers.Uninstall(name) }
