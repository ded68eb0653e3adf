package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/sim"
)

// DriverVersion is another release of a driver program: a command, a binary of the driver's profile,
// or another profile. Everything else is that of the release that is installed first.
type DriverVersion struct {
	Command           []string          `json:"command,omitempty" example:"[bin/hostdir-v2, '--endpoint={{.Endpoint}}']" doc:"The program and its arguments, as those of program."`
	ControllerCommand []string          `json:"controllerCommand,omitempty" doc:"Starts the controller plugin; default command."`
	Env               map[string]string `json:"env,omitempty" doc:"Replaces the environment of program; default that environment."`
	Profile           string            `json:"profile,omitempty" example:"hostpath" doc:"The profile that describes how the release is started; default, with binary, the driver's own."`
	Binary            string            `json:"binary,omitempty" example:"bin/hostpathplugin-v2" doc:"The program of the profile's driver."`

	profile *profile.Profile // that describes the release; nil for a command
}

// AsVersion returns the driver's program as a release of another driver.
func (d Driver) AsVersion() DriverVersion {
	if d.Program == nil {
		return DriverVersion{Profile: d.Profile, Binary: d.Binary}
	}
	return DriverVersion{Command: d.Program.Command, ControllerCommand: d.Program.ControllerCommand, Env: d.Program.Env}
}

// checkVersionsOf reports versions of a driver that is no program, and commands that cannot be run.
func (c *checker) checkVersionsOf(d *Driver) {
	if len(d.Versions) > 0 && d.Program == nil && d.profile == nil {
		c.report("versions", "versions of a driver without program or profile", "the release that is installed first as program or profile")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(d.Versions)) {
		field := "versions." + name
		if name == sim.FirstVersion {
			c.report(field, "version \""+name+"\"", "another name: "+sim.FirstVersion+" is the release that is installed first")
		}
		v := d.Versions[name]
		if v.Command != nil {
			c.checkCommand(field+".command", v.Command)
			c.checkCommand(field+".controllerCommand", v.ControllerCommand)
		}
		c.readVersion(field, d, &v)
		d.Versions[name] = v
	}
}

// readVersion reads the profile of a release.
func (c *checker) readVersion(field string, d *Driver, v *DriverVersion) {
	described := v.Profile != "" || v.Binary != ""
	switch {
	case described == (v.Command != nil):
		c.report(field, "a version with both or none of command and profile", "command, or profile and binary")
	case described && v.Profile == "" && d.profile == nil:
		c.report(field+".binary", "binary of a driver without profile", "command")
	case described && v.Profile == "":
		v.profile = d.profile
	case described:
		v.profile = c.loadProfile(field+".profile", v.Profile)
	}
}

// versions returns the driver's releases for the simulator.
func (d Driver) versions(dir string) map[string]sim.ProgramVersion {
	all := map[string]sim.ProgramVersion{}
	for name, v := range d.Versions {
		release := sim.ProgramVersion{Command: v.Command, ControllerCommand: v.ControllerCommand, Env: v.Env}
		if v.profile != nil {
			p := v.profile.Install(d.Name, v.Binary).Program
			release = sim.ProgramVersion{Command: p.Command, ControllerCommand: p.ControllerCommand, Env: p.Env}
		}
		release.Command, release.ControllerCommand = located(release.Command, dir), located(release.ControllerCommand, dir)
		all[name] = release
	}
	return all
}

// version reports a release that no driver, or not the named one, has.
func (c *checker) version(field, driver, name string) {
	if name == "" || name == sim.FirstVersion {
		return
	}
	known := []string{sim.FirstVersion}
	for _, d := range c.scenario.Drivers {
		if driver == "" || d.name() == driver {
			known = append(known, slices.Sorted(maps.Keys(d.Versions))...)
		}
	}
	slices.Sort(known)
	if known = slices.Compact(known); !slices.Contains(known, name) {
		c.document.ReportUnknown(c.in(field), fmt.Sprintf("version %q", name), name, "one of "+strings.Join(known, ", "), known)
	}
}

func init() {
	register("upgrade-driver", "Replaces the pods of a driver's plugins by pods of another release of its program, as a rolling update does: SIGTERM, a fresh container, another command. Directories of the node stay.",
		`upgrade-driver: {to: v2, node: node-a}`, &upgradeDriverStep{})
}

// upgradeDriverStep is an update of a driver, or a rollback.
type upgradeDriverStep struct {
	To string `json:"to" want:"required" example:"v2" doc:"The release: one of the driver's versions, or program for the one that was installed first, as a rollback does."`
	pluginFields
}

func (s *upgradeDriverStep) check(c *checker) {
	s.pluginFields.check(c)
	c.version("to", s.Driver, s.To)
}

func (s *upgradeDriverStep) do(r *runner) error {
	cluster, err := r.simulation()
	if err != nil {
		return err
	}
	return s.each(r, func(p sim.Plugin) error { return cluster.UpgradeDriver(p, s.To) })
}
