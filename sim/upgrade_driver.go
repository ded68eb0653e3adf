package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/trace"
)

// UpgradeDriver replaces the pod of a driver's plugin, or of its controller plugin, with a pod of
// another release, as a rolling update does, with the sidecars in it. The release is one of the
// driver's versions, or the first one, for a rollback. The new program has a fresh container;
// directories of the node stay. The objects of the release are applied before. On a node without
// power the pod is replaced when the node boots.
func (c *Simulation) UpgradeDriver(at Plugin, version string) error {
	if err := c.EndForUpgrade(at, version); err != nil {
		return err
	}
	return c.StartUpgraded(at)
}

// StartUpgraded is the second half of UpgradeDriver: it starts the new pod.
func (c *Simulation) StartUpgraded(at Plugin) error {
	return c.each(at.Driver, at.Node, func(p *plugin) error {
		if c.nodes.IsOff(p.node) {
			return nil
		}
		return c.startAgain(p)
	})
}

// EndForUpgrade is the first half of UpgradeDriver: it ends the old pod.
func (c *Simulation) EndForUpgrade(at Plugin, version string) error {
	if err := c.SetVersion(at, version); err != nil {
		return err
	}
	return c.each(at.Driver, at.Node, func(p *plugin) error {
		if c.nodes.IsOff(p.node) {
			c.World.Trace.Note(p.node, "%s is replaced when the node has power again", p)
			return nil
		}
		defer c.endSidecars(p)
		return c.stopWithRegistrar(p)
	})
}

// SetVersion applies the objects of a release, and has the next pod of a plugin be of the release.
// A running pod is unchanged, as after an update with the strategy OnDelete.
func (c *Simulation) SetVersion(at Plugin, version string) error {
	plugins, err := c.pluginsMeant(at.Driver, at.Node)
	if err != nil {
		return err
	}
	return c.setVersion(plugins, version)
}

func (c *Simulation) setVersion(plugins []*plugin, version string) error {
	d := plugins[0].driver
	if err := d.hasVersion(version); err != nil {
		return err
	}
	if err := d.deployment.Deploy(version, d.Deployments[version].Objects); err != nil {
		return err
	}
	for _, p := range plugins {
		p.next = version
	}
	return nil
}

// startAgain starts a plugin, in its new pod if it has one.
func (c *Simulation) startAgain(p *plugin) error {
	words := ""
	if p.renewed {
		words = ", version " + p.release()
	}
	c.pluginTransition(p, p.node, trace.Started, words)
	c.awaitingRestart.Settle(p)
	return c.bringUp(p)
}

// restartPlugin starts a killed plugin again: in its pod, or in the pod of a release.
func (c *Simulation) restartPlugin(p *plugin, version string) error {
	if version != "" {
		if version == fault.NextRelease {
			version = p.nextRelease()
		}
		if err := c.setVersion([]*plugin{p}, version); err != nil {
			return err
		}
		if p.registrar != nil {
			c.awaitingRestart.Settle(p.registrar)
			if err := p.registrar.Stop(); err != nil {
				return err
			}
		}
		c.endSidecars(p)
		c.replacePod(p)
	}
	return c.startAgain(p)
}

// replacePod has a stopped plugin start in a new pod, of the release that is due.
func (c *Simulation) replacePod(p *plugin) {
	b, isProgram := p.backend.(*programBackend)
	if isProgram && b.program != nil {
		b.program.ReplacePod()
	}
	if p.next == "" {
		return
	}
	p.version, p.next, p.renewed = p.next, "", true
	if isProgram {
		b.use(p.driver.Program.release(p.version))
	}
	if p.registrar != nil {
		p.registrar = c.registrarOf(p)
	}
}

// release is the name of the release that a plugin runs.
func (p *plugin) release() string { return cmp.Or(p.version, p.driver.first()) }

// releaseAt returns the release of the driver that serves at a site: its name or, for a driver in a
// pod, the image of its container. It is empty for a driver without other releases.
func (c *Simulation) releaseAt(at wire.Site) string {
	if d := c.driver(at.Driver); d != nil {
		if len(d.versions()) == 0 {
			return ""
		}
		for _, p := range c.plugins(d) {
			if p.servesAt(at) {
				return cmp.Or(p.version, d.Version)
			}
		}
	}
	if at.Node == "" || !c.options.hasImages() {
		return ""
	}
	return cluster.ImageAt(c.World.Store, at)
}

// nextRelease is the release after the one that a plugin runs.
func (p *plugin) nextRelease() string {
	all := append([]string{p.driver.first()}, p.driver.versions()...)
	return all[(slices.Index(all, p.release())+1)%len(all)]
}

// first is the name of the release that is installed first.
func (d *driver) first() string { return cmp.Or(d.Version, FirstVersion) }

// versions are the names of the driver's other releases.
func (d Driver) versions() []string {
	names := slices.Collect(maps.Keys(d.Deployments))
	switch {
	case d.Program != nil:
		names = slices.AppendSeq(names, maps.Keys(d.Program.Versions))
	case d.Servers != nil:
		names = slices.AppendSeq(names, maps.Keys(d.Servers.Versions))
	case d.Mock != nil:
		names = slices.AppendSeq(names, maps.Keys(d.MockVersions))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// hasVersion returns an error if the driver has no such release.
func (d *driver) hasVersion(name string) error {
	switch {
	case d.Socket != nil:
		return &ConfigError{Subject: fmt.Sprintf("driver %q", d.Name), Problem: "a driver on a socket has no versions: csisim does not start it"}
	case name != d.first() && !slices.Contains(d.versions(), name):
		return &ConfigError{Subject: fmt.Sprintf("version %q", name), Problem: fmt.Sprintf("driver %q has no such version", d.Name)}
	}
	return nil
}

// release returns a release of the program. Fields that it leaves out are as in the first release.
func (o *Program) release(version string) ProgramVersion {
	release, is := o.Versions[version]
	if !is {
		release = ProgramVersion{Command: o.Command, ControllerCommand: o.ControllerCommand}
	}
	if release.Env == nil {
		release.Env = o.Env
	}
	if release.NodePaths == nil {
		release.NodePaths = o.NodePaths
	}
	if release.NodeVolumes == nil {
		release.NodeVolumes = o.NodeVolumes
	}
	if release.ControllerVolumes == nil {
		release.ControllerVolumes = o.ControllerVolumes
	}
	return release
}

// use has the next instances run a release of the program.
func (b *programBackend) use(release ProgramVersion) {
	b.spec.Command, b.spec.Volumes = release.Command, release.NodeVolumes
	if b.node == "" {
		b.spec.Volumes = release.ControllerVolumes
		if len(release.ControllerCommand) > 0 {
			b.spec.Command = release.ControllerCommand
		}
	}
	b.spec.Env, b.spec.NodePaths = release.Env, release.NodePaths
	if b.program != nil {
		b.program.Upgrade(b.spec)
	}
}

// release returns a release of the servers.
func (s *Servers) release(version string) *Servers {
	if other, is := s.Versions[version]; is {
		return &other
	}
	return s
}
