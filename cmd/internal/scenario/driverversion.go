package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim"
)

// DriverVersion is a release of a driver. A further release inherits everything that it leaves out
// from the first installed release.
type DriverVersion struct {
	Program   *Program      `json:"program,omitempty" doc:"The program of the release. A further release sets only command, controllerCommand, env and nodePaths; everything else is as in the first release."`
	Profile   string        `json:"profile,omitempty" example:"hostpath" doc:"The profile that describes the start of the release; with binary, the default is the driver's own profile."`
	Binary    string        `json:"binary,omitempty" example:"bin/hostpathplugin-v2" doc:"The program of the profile's driver."`
	Mock      *mock.Options `json:"mock,omitempty" doc:"The options of the reference driver in the release that differ from the defaults. Volumes and mounts stay."`
	Deploy    []string      `json:"deploy,omitempty" example:"[deploy/v2]" doc:"The manifests of the release, relative to this file, like the driver's deploy. The simulation takes from them the CSIDriver object, the classes, the sidecars with their flags, and the volumes of the driver's container."`
	CSIDriver *CSIDriver    `json:"csiDriver,omitempty" example:"{attachRequired: false}" doc:"The spec of the CSIDriver object."`
	Sidecars  *sim.Sidecars `json:"sidecars,omitempty" doc:"Flags and versions of the sidecars that differ from the defaults."`
	Objects   Manifests     `json:"objects,omitzero" doc:"Further manifests of the release, such as a StorageClass with other parameters."`

	profile *profile.Profile // the profile that describes the release; nil for none
	own     *deploy.Own      // read from Deploy; nil for none
	without []sim.Sidecar    // that Deploy lacks
	objects []object         // read from Objects
}

// AsVersion returns the driver as a release of another driver.
func (d Driver) AsVersion() DriverVersion {
	v := DriverVersion{Profile: d.Profile, Binary: d.Binary, Deploy: d.Deploy}
	if d.Program != nil {
		v.Program = &Program{Command: d.Program.Command, ControllerCommand: d.Program.ControllerCommand, Env: d.Program.Env}
	}
	return v
}

// takeFirstVersions makes the first installed release a part of its driver.
func (c *checker) takeFirstVersions() {
	for i := range c.scenario.Drivers {
		c.at(strict.Index("drivers", i), func() { c.takeFirstVersion(&c.scenario.Drivers[i]) })
	}
}

func (c *checker) takeFirstVersion(d *Driver) {
	if d.Version == "" {
		return
	}
	v, known := d.Versions[d.Version]
	if !known {
		c.unknown("version", "version", d.Version, slices.Collect(maps.Keys(d.Versions)))
		return
	}
	for _, field := range []string{"mock", "profile", "binary", "program", "socket", "deploy", "csiDriver", "sidecars"} {
		if c.has(field) {
			c.report(field, field+" beside version", fmt.Sprintf("it in versions: {%s: {%s: …}}", d.Version, field))
		}
	}
	d.Program, d.Profile, d.Binary, d.Mock = v.Program, v.Profile, v.Binary, v.Mock
	d.Deploy, d.CSIDriver = v.Deploy, v.CSIDriver
	if v.Sidecars != nil {
		d.Sidecars = *v.Sidecars
	}
	c.scenario.Objects.parts = append(c.scenario.Objects.parts, v.Objects.parts...)
}

// firstVersion is the name of the release that is installed first.
func (d Driver) firstVersion() string {
	if d.Version != "" {
		return d.Version
	}
	return sim.FirstVersion
}

// checkVersionsOf reports releases that cannot replace the first one.
func (c *checker) checkVersionsOf(d *Driver) {
	switch {
	case c.reported("version"):
		return
	case len(d.Versions) > 0 && d.Program == nil && d.profile == nil && d.Mock == nil:
		c.report("versions", "versions of a driver without a first release", "the release that is installed first as program, profile or mock, or its name as version")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(d.Versions)) {
		v := d.Versions[name]
		field := "versions." + name
		if name == d.Version {
			continue // the driver itself describes this release
		}
		if name == d.firstVersion() {
			c.report(field, "version \""+name+"\"", "another name: "+name+" is the release that is installed first")
		}
		c.at(c.in(field), func() { c.checkVersion(d, &v) })
		d.Versions[name] = v
	}
}

func (c *checker) checkVersion(d *Driver, v *DriverVersion) {
	c.checkReleasedProgram(v.Program)
	c.checkWayOf(d, v)
	if v.Sidecars != nil {
		c.checkSidecars(*v.Sidecars)
	}
	c.checkCSIDriver(d.name(), v.CSIDriver)
	c.readDeployOf(d, v)
}

// checkReleasedProgram reports fields of a further release that no release changes.
func (c *checker) checkReleasedProgram(p *Program) {
	if p == nil {
		return
	}
	c.checkCommand("program.command", p.Command)
	c.checkCommand("program.controllerCommand", p.ControllerCommand)
	c.checkNodePaths(p)
	for _, field := range []string{"single", "optional", "pluginSocket", "addonsSocket", "startTimeout", "memory", "capabilities", "standIns"} {
		if c.has("program." + field) {
			c.report("program."+field, field+" of a further release", field+" of the release that is installed first; command, controllerCommand, env and nodePaths change with a release")
		}
	}
}

// checkWayOf reports a release that is started in another way than the first release, and reads its
// profile.
func (c *checker) checkWayOf(d *Driver, v *DriverVersion) {
	described := v.Profile != "" || v.Binary != ""
	changes := len(v.Deploy) > 0 || v.CSIDriver != nil || v.Sidecars != nil || len(v.Objects.parts) > 0
	switch {
	case described && v.Program != nil:
		c.report("", "a version with program and profile", "one of them")
	case v.Mock != nil && d.Mock == nil:
		c.report("mock", "a mock as a release of a program", "program, or profile and binary")
	case d.Mock != nil && (described || v.Program != nil):
		c.report("", "a program as a release of a mock", "mock, with the options of the release")
	case v.Mock != nil:
		c.checkMockOf(d, v.Mock)
	case described && v.Profile == "" && d.profile == nil:
		c.report("binary", "binary of a driver without profile", "program")
	case described && v.Profile == "":
		v.profile = d.profile
	case described:
		v.profile = c.loadProfile("profile", v.Profile)
	case v.Program == nil && !changes:
		c.report("", "a version that changes nothing", "program, profile and binary, or mock; deploy, csiDriver, sidecars or objects")
	}
}

func (c *checker) checkMockOf(d *Driver, options *mock.Options) {
	if options.Name != "" && options.Name != d.name() {
		c.report("mock.name", fmt.Sprintf("name %q", options.Name), fmt.Sprintf("the driver's name, %q, or none", d.name()))
	}
	if err := options.Validate(); err != nil {
		for _, mistake := range strings.Split(err.Error(), "\n") {
			c.report("mock", "options that do not go together", mistake)
		}
	}
}

// readDeployOf reads the manifests of a release.
func (c *checker) readDeployOf(d *Driver, v *DriverVersion) {
	if len(v.Deploy) == 0 {
		return
	}
	for _, field := range []string{"csiDriver", "sidecars"} {
		if c.has(field) {
			c.report(field, field+" beside deploy", "no "+field+": the manifests have it")
		}
	}
	released := Driver{Name: d.name(), Deploy: v.Deploy}
	if !c.readOwn(&released) {
		return
	}
	if released.Replicas != d.Replicas {
		c.report("deploy", fmt.Sprintf("a controller plugin with %d replicas", max(1, released.Replicas)), fmt.Sprintf("as many as the release that is installed first has, %d", max(1, d.Replicas)))
	}
	v.own, v.Sidecars = released.own, &released.Sidecars
	v.without = released.absent()
	d.unknown = append(d.unknown, released.unknown...)
}

// deployments returns the parts of the deployment that releases change.
func (d Driver) deployments() map[string]sim.Deployment {
	all := map[string]sim.Deployment{}
	for name, v := range d.Versions {
		if name == d.Version {
			continue
		}
		release := sim.Deployment{Sidecars: v.Sidecars, Without: v.without}
		if v.CSIDriver != nil {
			release.Objects = append(release.Objects, v.CSIDriver.object(d.name()))
		}
		if v.own != nil {
			release.Objects = append(release.Objects, v.own.Shared()...)
		}
		for _, o := range v.objects {
			release.Objects = append(release.Objects, o.Object.(store.Object))
		}
		if release.Sidecars != nil || len(release.Objects) > 0 {
			all[name] = release
		}
	}
	return all
}

// programs returns the programs of the driver's releases.
func (d Driver) programs(dir string) map[string]sim.ProgramVersion {
	all := map[string]sim.ProgramVersion{}
	for name, v := range d.Versions {
		if name == d.Version {
			continue
		}
		release := d.released(v)
		release.Command, release.ControllerCommand = located(release.Command, dir), located(release.ControllerCommand, dir)
		if v.own != nil {
			release.NodeVolumes, release.ControllerVolumes = v.own.Volumes("node"), v.own.Volumes("controller")
		}
		all[name] = release
	}
	return all
}

// released returns the program of a release; by default the program of the first release.
func (d Driver) released(v DriverVersion) sim.ProgramVersion {
	switch {
	case v.Program != nil:
		return sim.ProgramVersion{Command: v.Program.Command, ControllerCommand: v.Program.ControllerCommand, Env: v.Program.Env, NodePaths: v.Program.NodePaths}
	case v.profile != nil:
		p := v.profile.Install(d.Name, v.Binary).Program
		return sim.ProgramVersion{Command: p.Command, ControllerCommand: p.ControllerCommand, Env: p.Env, NodePaths: p.NodePaths}
	case d.profile != nil:
		p := d.profile.Install(d.Name, d.Binary).Program
		return sim.ProgramVersion{Command: p.Command, ControllerCommand: p.ControllerCommand}
	}
	return sim.ProgramVersion{Command: d.Program.Command, ControllerCommand: d.Program.ControllerCommand}
}

// mocks returns the options of those releases of the reference driver that have their own options.
func (d Driver) mocks() map[string]mock.Options {
	all := map[string]mock.Options{}
	for name, v := range d.Versions {
		if v.Mock != nil && name != d.Version {
			all[name] = *v.Mock
		}
	}
	return all
}

// version reports a release that the named driver does not have or, without a name, that no driver
// has.
func (c *checker) version(field, driver, name string) {
	if name == "" {
		return
	}
	var known []string
	for _, d := range c.scenario.Drivers {
		if driver == "" || d.name() == "" || d.name() == driver {
			known = append(known, d.firstVersion())
			known = append(known, slices.Sorted(maps.Keys(d.Versions))...)
		}
	}
	slices.Sort(known)
	if known = slices.Compact(known); !slices.Contains(known, name) {
		c.document.ReportUnknown(c.in(field), fmt.Sprintf("version %q", name), name, "one of "+strings.Join(known, ", "), known)
	}
}
