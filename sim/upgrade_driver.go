package sim

import (
	"maps"
	"slices"

	"github.com/csisim/csisim/internal/driver/program"
)

// UpgradeDriver replaces the pod of a driver's plugin, or of its controller plugin, with a pod of
// another release. The sidecars are replaced with the pod, as in a rolling update. The release is
// one of the driver's versions, or the first release, for a rollback. The new program has a fresh
// container; directories of the node stay. The objects of the release are applied before. On a node
// without power the pod is replaced when the node boots.
func (c *Simulation) UpgradeDriver(at Plugin, version string) error {
	if err := c.EndForUpgrade(at, version); err != nil {
		return err
	}
	return c.StartUpgraded(at)
}

// StartUpgraded is the second half of UpgradeDriver: it starts the new pod.
func (c *Simulation) StartUpgraded(at Plugin) error {
	return c.drivers.StartUpgraded(at.Driver, at.Node)
}

// EndForUpgrade is the first half of UpgradeDriver: it ends the old pod.
func (c *Simulation) EndForUpgrade(at Plugin, version string) error {
	return c.drivers.EndForUpgrade(at.Driver, at.Node, version)
}

// SetVersion applies the objects of a release, and uses that release for the next pod of a plugin.
// A running pod is unchanged, as after an update with the strategy OnDelete.
func (c *Simulation) SetVersion(at Plugin, version string) error {
	return c.drivers.SetVersion(at.Driver, at.Node, version)
}

// versions returns the names of the driver's other releases.
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

// release returns a release of the program. It takes omitted fields from the first release.
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

// use makes a spec start a release of the program.
func (o *Program) use(spec *program.Spec, node, version string) {
	release := o.release(version)
	spec.Command, spec.Volumes = release.Command, release.NodeVolumes
	if node == "" {
		spec.Volumes = release.ControllerVolumes
		if len(release.ControllerCommand) > 0 {
			spec.Command = release.ControllerCommand
		}
	}
	spec.Env, spec.NodePaths = release.Env, release.NodePaths
}

// release returns a release of the servers.
func (s *Servers) release(version string) *Servers {
	if other, is := s.Versions[version]; is {
		return &other
	}
	return s
}
