package sim

import (
	"slices"

	judged "github.com/csisim/csisim/internal/judge/program"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// violations returns the drivers' breaches of the CSI spec: those in calls, those in the logs of
// their programs, remains of deleted volumes, and orphans of failed calls.
func (c *Simulation) violations() []verdict.Verdict {
	c.remains.Look()
	c.orphans.Look()
	c.readLogs()
	return c.Wire.Violations()
}

// judgePrograms follows the files and logs of driver programs.
func (c *Simulation) judgePrograms() {
	run := judged.Run{Trace: c.World.Trace, Report: c.Wire.Report, Renamed: c.Wire.Renamed, Paired: func() bool { return c.peer() != nil }}
	c.remains = judged.Remains{Run: run, Dir: func() string { return c.run.work.Path() }, HasProgram: c.hasProgram}
	c.orphans, c.logs = judged.Orphans{Run: run}, judged.Logs{Run: run}
}

// readLogs looks for secrets and data races in the logs of driver programs.
func (c *Simulation) readLogs() {
	ran := map[*driver][]judged.Program{}
	for _, d := range c.drivers {
		for _, p := range c.plugins(d) {
			if b, ok := p.backend.(*programBackend); ok {
				ran[d] = append(ran[d], judged.Program{Plugin: p.String(), Driver: d.Name, Node: p.node, Ran: b.ran})
			}
		}
		if d.Program != nil {
			c.logs.Secrets(d.Name, append(slices.Clone(d.Program.Command), d.Program.ControllerCommand...), ran[d])
		}
	}
	for _, d := range c.drivers {
		for _, p := range ran[d] {
			c.logs.Races(p)
		}
	}
}

// hasProgram reports whether the plugins of a driver are programs of the run's own.
func (c *Simulation) hasProgram(name string) bool {
	return slices.ContainsFunc(c.drivers, func(d *driver) bool { return d.Name == name && d.Program != nil })
}
