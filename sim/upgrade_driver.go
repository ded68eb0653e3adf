package sim

import (
	"fmt"

	"github.com/csisim/csisim/internal/world/trace"
)

// UpgradeDriver replaces the pod of a driver's plugin, or of its controller plugin, by one of another
// release of its program, as a rolling update does. The release is one of Program.Versions or
// FirstVersion, for a rollback. The new program has a fresh container; directories of the node stay.
func (c *Simulation) UpgradeDriver(at Plugin, version string) error {
	plugins, err := c.pluginsMeant(at.Driver, at.Node)
	if err != nil {
		return err
	}
	for _, p := range plugins {
		if _, err := p.release(version); err != nil {
			return err
		}
	}
	if err := c.stopPlugin(at.Driver, at.Node); err != nil {
		return err
	}
	for _, p := range plugins {
		if err := c.startAs(p, version); err != nil {
			return err
		}
	}
	return nil
}

// restartPlugin starts a killed plugin again: in its pod, or in the pod of a release.
func (c *Simulation) restartPlugin(p *plugin, version string) error {
	if version == "" {
		c.pluginTransition(p, p.node, trace.Started, "")
		return c.bringUp(p)
	}
	if p.registrar != nil {
		if err := p.registrar.Stop(); err != nil {
			return err
		}
	}
	p.replacePod()
	return c.startAs(p, version)
}

// startAs starts a release of a plugin's program.
func (c *Simulation) startAs(p *plugin, version string) error {
	if err := p.use(version); err != nil {
		return err
	}
	c.pluginTransition(p, p.node, trace.Started, ", version "+version)
	c.fallen.settle(p)
	if err := c.bringUp(p); err != nil {
		return &UpgradeError{Plugin: p.String(), Node: p.node, Version: version, Err: err}
	}
	return nil
}

// release returns a release of a plugin's program.
func (p *plugin) release(version string) (ProgramVersion, error) {
	o := p.driver.Program
	if _, is := p.backend.(*programBackend); !is {
		return ProgramVersion{}, &ConfigError{fmt.Sprintf("driver %q", p.driver.Name), "csisim does not start its program"}
	}
	first := ProgramVersion{Command: o.Command, ControllerCommand: o.ControllerCommand, Env: o.Env}
	if version == FirstVersion {
		return first, nil
	}
	release, known := o.Versions[version]
	if !known {
		return release, &ConfigError{fmt.Sprintf("version %q", version), fmt.Sprintf("driver %q has no such version", p.driver.Name)}
	}
	if release.Env == nil {
		release.Env = first.Env
	}
	return release, nil
}

// use has the next instances of a plugin run a release of its program.
func (p *plugin) use(version string) error {
	release, err := p.release(version)
	if err != nil {
		return err
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
	return nil
}
