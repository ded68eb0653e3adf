package sim

import "github.com/csisim/csisim/drivers/fault"

// Restart kills programs and starts them again at once. They lose their memory.
func (c *Cluster) Restart(components ...Component) {
	c.t.Helper()
	for _, component := range components {
		c.Kill(component)
		c.Start(component)
	}
}

// Kill ends programs like SIGKILL.
func (c *Cluster) Kill(components ...Component) {
	c.t.Helper()
	c.each("kill", c.world.Kill, components)
}

// Stop ends programs like SIGTERM: plugins and registrars remove their sockets.
func (c *Cluster) Stop(components ...Component) {
	c.t.Helper()
	c.each("stop", c.world.Stop, components)
}

// Start starts programs that were killed or stopped.
func (c *Cluster) Start(components ...Component) {
	c.t.Helper()
	c.each("start", c.world.Start, components)
}

// each performs an operation on components.
func (c *Cluster) each(verb string, do func(Component) error, components []Component) {
	c.t.Helper()
	for _, component := range components {
		c.do(verb+" "+component.String(), func() error { return do(component) })
	}
}

// Upgrade replaces the pods of plugins by pods of another release of their driver. Like a rolling
// update, it replaces one pod after the other: SIGTERM, then a fresh container. Without plugins it
// replaces all of them. FirstVersion is a rollback.
func (c *Cluster) Upgrade(version string, plugins ...Plugin) {
	c.t.Helper()
	simulation, simulated := c.world.(*Simulation)
	if !simulated {
		c.must(&ConfigError{Subject: "upgrade to version " + version, Problem: "the image of a driver's pods on a real cluster has one release of its program"}, "upgrade")
		return
	}
	if len(plugins) == 0 {
		plugins = simulation.allPlugins()
	}
	for _, p := range plugins {
		c.do("upgrade "+p.String()+" to "+version, func() error { return simulation.UpgradeDriver(p, version) })
	}
}

// allPlugins returns the plugins of all drivers: first the node plugins, then the controller
// plugins.
func (c *Simulation) allPlugins() (all []Plugin) {
	for _, d := range c.drivers.All {
		for _, node := range c.DriverNodes(d.Name) {
			all = append(all, Plugin{Driver: d.Name, Node: node})
		}
		if d.Controller != nil {
			all = append(all, Plugin{Driver: d.Name})
		}
	}
	return all
}

// PowerOff cuts the power of a node: its kubelet, containers, driver programs and mounts end at
// once. Its files stay, except unsynced writes of driver programs to its disk.
func (c *Cluster) PowerOff(node string) {
	c.t.Helper()
	c.do("power off "+node, func() error { return c.world.PowerOff(node) })
}

// PowerOn boots a node that was powered off.
func (c *Cluster) PowerOn(node string) {
	c.t.Helper()
	c.do("power on "+node, func() error { return c.world.PowerOn(node) })
}

// Inject activates a fault; the returned function ends the fault and releases the calls that it
// holds.
func (c *Cluster) Inject(f fault.Fault) (clear func()) {
	c.t.Helper()
	exclusively := func(what string, do func() error) {
		c.t.Helper()
		var err error
		c.world.Exclusively(func() { err = do() })
		c.must(err, what)
	}
	exclusively("inject a fault", func() error { return c.world.Inject(&f) })
	return func() { c.t.Helper(); exclusively("end a fault", func() error { return c.world.EndFault(&f) }) }
}

// do performs an operation on the cluster, and fails the test if the operation fails.
func (c *Cluster) do(what string, action func() error) {
	c.t.Helper()
	var err error
	c.world.Exclusively(func() {
		c.world.Say(what)
		err = action()
	})
	c.must(err, what)
}
