package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/csisim/csisim/sim"
)

// DriverVersion is another release of a driver program. Everything else is that of the program.
type DriverVersion struct {
	Command           []string          `json:"command" want:"required" example:"[bin/hostdir-v2, '--endpoint={{.Endpoint}}']" doc:"The program and its arguments, as those of program."`
	ControllerCommand []string          `json:"controllerCommand,omitempty" doc:"Starts the controller plugin; default command."`
	Env               map[string]string `json:"env,omitempty" doc:"Replaces the environment of program; default that environment."`
}

// firstVersion is the name of the release that is installed first.
const firstVersion = "program"

// checkVersionsOf reports versions of a driver that is no program, and commands that cannot be run.
func (c *checker) checkVersionsOf(d Driver) {
	if len(d.Versions) > 0 && d.Program == nil {
		c.report("versions", "versions of a driver without program", "the release that is installed first as program")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(d.Versions)) {
		if name == firstVersion {
			c.report("versions."+name, "version \""+name+"\"", "another name: "+firstVersion+" is the release that is installed first")
		}
		v := d.Versions[name]
		c.checkCommand("versions."+name+".command", v.Command)
		c.checkCommand("versions."+name+".controllerCommand", v.ControllerCommand)
	}
}

// versions returns the driver's releases for the simulator.
func (d Driver) versions(dir string) map[string]sim.ProgramVersion {
	all := map[string]sim.ProgramVersion{}
	for name, v := range d.Versions {
		all[name] = sim.ProgramVersion{Command: located(v.Command, dir), ControllerCommand: located(v.ControllerCommand, dir), Env: v.Env}
	}
	return all
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
	if s.To == "" || s.To == firstVersion {
		return
	}
	known := []string{firstVersion}
	for _, d := range c.scenario.Drivers {
		if s.Driver == "" || d.name() == s.Driver {
			known = append(known, slices.Sorted(maps.Keys(d.Versions))...)
		}
	}
	known = slices.Compact(known)
	if !slices.Contains(known, s.To) {
		c.document.ReportUnknown(c.in("to"), fmt.Sprintf("version %q", s.To), s.To, "one of "+strings.Join(known, ", "), known)
	}
}

func (s *upgradeDriverStep) do(r *runner) error {
	cluster, err := r.simulation()
	if err != nil {
		return err
	}
	to := s.To
	if to == firstVersion {
		to = ""
	}
	return s.each(r, func(p sim.Plugin) error { return cluster.UpgradeDriver(p, to) })
}
