package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/trace"
)

// UpgradeDriver replaces the pod of a driver's plugin, or of its controller plugin, by one of another
// release, as a rolling update does. The release is a version of its program or of its servers, or
// FirstVersion, for a rollback. The new program has a fresh container; directories of the node stay.
func (c *Simulation) UpgradeDriver(at Plugin, version string) error {
	plugins, err := c.pluginsMeant(at.Driver, at.Node)
	if err != nil {
		return err
	}
	for _, p := range plugins {
		if err := p.driver.hasVersion(version); err != nil {
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
	if version == fault.NextRelease {
		version = p.nextRelease()
	}
	return c.startAs(p, version)
}

// startAs starts a release of a plugin.
func (c *Simulation) startAs(p *plugin, version string) error {
	if err := p.driver.hasVersion(version); err != nil {
		return err
	}
	p.version = version
	if b, is := p.backend.(*programBackend); is {
		b.use(p.driver.Program.release(version))
	}
	c.pluginTransition(p, p.node, trace.Started, ", version "+version)
	c.fallen.settle(p)
	if err := c.bringUp(p); err != nil {
		return &UpgradeError{Plugin: p.String(), Node: p.node, Version: version, Err: err}
	}
	return nil
}

// nextRelease is the release after the one that a plugin runs.
func (p *plugin) nextRelease() string {
	all := append([]string{FirstVersion}, p.driver.versions()...)
	at := slices.Index(all, cmp.Or(p.version, FirstVersion))
	return all[(at+1)%len(all)]
}

// hasVersions reports whether a driver has other releases.
func (c *Simulation) hasVersions(name string) bool {
	return slices.ContainsFunc(c.drivers, func(d *driver) bool { return d.Name == name && len(d.versions()) > 0 })
}

// versions are the names of the driver's other releases.
func (d *driver) versions() []string {
	switch {
	case d.Program != nil:
		return slices.Sorted(maps.Keys(d.Program.Versions))
	case d.Servers != nil:
		return slices.Sorted(maps.Keys(d.Servers.Versions))
	}
	return nil
}

// hasVersion returns an error if the driver has no such release.
func (d *driver) hasVersion(name string) error {
	switch {
	case d.Program == nil && d.Servers == nil:
		return &ConfigError{fmt.Sprintf("driver %q", d.Name), "only a program or servers of this process have versions"}
	case name != FirstVersion && !slices.Contains(d.versions(), name):
		return &ConfigError{fmt.Sprintf("version %q", name), fmt.Sprintf("driver %q has no such version", d.Name)}
	}
	return nil
}

// release returns a release of the program.
func (o *Program) release(version string) ProgramVersion {
	release, is := o.Versions[version]
	if !is {
		return ProgramVersion{Command: o.Command, ControllerCommand: o.ControllerCommand, Env: o.Env}
	}
	if release.Env == nil {
		release.Env = o.Env
	}
	return release
}

// use has the next instances run a release of the program.
func (b *programBackend) use(release ProgramVersion) {
	command := release.Command
	if b.node == "" && len(release.ControllerCommand) > 0 {
		command = release.ControllerCommand
	}
	b.spec.Command, b.spec.Env = command, release.Env
	if b.program != nil {
		b.program.Upgrade(command, release.Env)
	}
}

// release returns a release of the servers.
func (s *Servers) release(version string) *Servers {
	if other, is := s.Versions[version]; is {
		return &other
	}
	return s
}
