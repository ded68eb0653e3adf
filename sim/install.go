package sim

// Install deploys a driver with Later, or a driver that was uninstalled: its plugins, sidecars and
// CSIDriver object. Its backend is unchanged.
func (c *Simulation) Install(name string) error { return c.drivers.Install(name) }

// Uninstall deletes a driver's deployment: it kills the sidecars, stops the plugins and registrars,
// and deletes the CSIDriver object. Volumes that are attached, mounted or claimed stay unchanged.
func (c *Simulation) Uninstall(name string) error { return c.drivers.Uninstall(name) }
