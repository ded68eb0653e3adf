package sim

import "fmt"

// UpgradeDriver replaces the pod of a driver's plugin, or of its controller plugin, by one of another
// release of its program, as a rolling update does. An empty version is the release that was installed
// first. The new program has a fresh container; directories of the node stay.
func (c *Simulation) UpgradeDriver(at Plugin, version string) error {
	plugins, err := c.pluginsMeant(at.Driver, at.Node)
	if err != nil {
		return err
	}
	for _, p := range plugins {
		if err := p.canBe(version); err != nil {
			return err
		}
	}
	if err := c.stopPlugin(at.Driver, at.Node); err != nil {
		return err
	}
	for _, p := range plugins {
		p.use(version)
	}
	return c.startPlugin(at.Driver, at.Node)
}

// canBe returns an error if a plugin has no such release.
func (p *plugin) canBe(version string) error {
	if _, is := p.backend.(*programBackend); !is {
		return &ConfigError{fmt.Sprintf("driver %q", p.driver.Name), "csisim does not start its program"}
	}
	if _, known := p.driver.Program.Versions[version]; !known && version != "" {
		return &ConfigError{fmt.Sprintf("version %q", version), fmt.Sprintf("driver %q has no such version", p.driver.Name)}
	}
	return nil
}

// use has the next instances of a plugin run a release of the program.
func (p *plugin) use(version string) {
	o := p.driver.Program
	release := ProgramVersion{Command: o.Command, ControllerCommand: o.ControllerCommand, Env: o.Env}
	if other, known := o.Versions[version]; known {
		release.Command, release.ControllerCommand = other.Command, other.ControllerCommand
		if other.Env != nil {
			release.Env = other.Env
		}
	}
	command := release.Command
	if p.node == "" && len(release.ControllerCommand) > 0 {
		command = release.ControllerCommand
	}
	b := p.backend.(*programBackend)
	b.spec.Command, b.spec.Env = command, release.Env
	if b.program != nil {
		b.program.Upgrade(command, release.Env)
	}
}
