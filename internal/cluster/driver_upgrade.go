package cluster

import (
	"cmp"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/wire"
)

// StartUpgraded starts the new pod.
func (ds *Drivers) StartUpgraded(name, node string) error {
	return ds.each(name, node, func(p *Plugin) error {
		if ds.Nodes.IsOff(p.Node) {
			return nil
		}
		return ds.startAgain(p)
	})
}

// EndForUpgrade applies the objects of a release and ends the old pod.
func (ds *Drivers) EndForUpgrade(name, node, version string) error {
	if err := ds.SetVersion(name, node, version); err != nil {
		return err
	}
	return ds.each(name, node, func(p *Plugin) error {
		if ds.Nodes.IsOff(p.Node) {
			ds.World.Trace.Note(p.Node, "%s is replaced when the node has power again", p)
			return nil
		}
		defer ds.endSidecars(p)
		return ds.stopWithRegistrar(p)
	})
}

// SetVersion applies the objects of a release, and uses that release for the next pod of a plugin.
// A running pod is unchanged, as after an update with the strategy OnDelete.
func (ds *Drivers) SetVersion(name, node, version string) error {
	plugins, err := ds.meant(name, node)
	if err != nil {
		return err
	}
	return ds.setVersion(plugins, version)
}

func (ds *Drivers) setVersion(plugins []*Plugin, version string) error {
	d := plugins[0].Driver
	if err := d.hasVersion(version); err != nil {
		return err
	}
	if err := d.deployment.Deploy(version, d.Releases[version].Objects); err != nil {
		return err
	}
	for _, p := range plugins {
		p.next = version
	}
	return nil
}

// restartPlugin starts a killed plugin again: in its pod, or in the pod of a release.
func (ds *Drivers) restartPlugin(p *Plugin, version string) error {
	if version != "" {
		if version == fault.NextRelease {
			version = p.nextRelease()
		}
		if err := ds.setVersion([]*Plugin{p}, version); err != nil {
			return err
		}
		if p.registrar != nil {
			ds.Awaiting.Settle(p.registrar)
			if err := p.registrar.Stop(); err != nil {
				return err
			}
		}
		ds.endSidecars(p)
		ds.replacePod(p)
	}
	return ds.startAgain(p)
}

// replacePod prepares the start of a stopped plugin in a new pod, with the next release.
func (ds *Drivers) replacePod(p *Plugin) {
	b, isProgram := p.Backend.(*Program)
	if isProgram && b.program != nil {
		b.program.ReplacePod()
	}
	if p.next == "" {
		return
	}
	p.Version, p.next, p.renewed = p.next, "", true
	if isProgram {
		b.upgrade()
	}
	if p.registrar != nil {
		p.registrar = ds.registrarOf(p)
	}
}

// ReleaseAt returns the release of the driver that serves at a site: its name or, for a driver in a
// pod, the image of its container. It is empty for a driver without other releases.
func (ds *Drivers) ReleaseAt(at wire.Site) string {
	if d := ds.Find(at.Driver); d != nil {
		if len(d.Versions) == 0 {
			return ""
		}
		for _, p := range ds.Plugins(d) {
			if p.servesAt(at) {
				return cmp.Or(p.Version, d.Version)
			}
		}
	}
	if at.Node == "" || !ds.HaveImages {
		return ""
	}
	return ImageAt(ds.World.Store, at)
}
