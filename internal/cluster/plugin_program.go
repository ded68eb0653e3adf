package cluster

import (
	"context"
	"time"

	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/judge/ledger"
	judged "github.com/csisim/csisim/internal/judge/program"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/workdir"
)

// Program is the backend of a plugin that the run starts as a program.
type Program struct {
	*Plugin
	Spec program.Spec
	// Use makes a spec start a release of the program.
	Use func(spec *program.Spec, version string)
	// Loops are the loop devices of the run.
	Loops *workdir.Loops
	// Ran are all instances, including the latest one.
	Ran []*machine.Process

	program *program.Program
}

// Programs returns the plugins that the run starts as programs.
func (ds *Drivers) Programs() (all []*Program) {
	for _, d := range ds.All {
		if !d.IsProgram { // a driver may be on 10,000 nodes
			continue
		}
		for _, p := range ds.Plugins(d) {
			all = append(all, p.Backend.(*Program))
		}
	}
	return all
}

// Start starts an instance.
func (b *Program) Start() error {
	var err error
	if b.program == nil {
		b.program, err = program.Start(b.interrupt, b.Machine, b.Spec)
	} else {
		err = b.program.Restart(b.interrupt)
	}
	if err != nil {
		return &EnvironmentError{Doing: "start " + b.String(), Err: err}
	}
	b.Ran = append(b.Ran, b.Process())
	return b.Loops.AddMemory(b.Process().Memory()...)
}

// Process is its latest instance.
func (b *Program) Process() *machine.Process { return b.program.Process() }

// upgrade makes the next instances run the release of the plugin.
func (b *Program) upgrade() {
	b.Use(&b.Spec, b.Version)
	if b.program != nil {
		b.program.Upgrade(b.Spec)
	}
}

// Lookups lists the lookups, by all instances, of files that were lost with the containers of
// earlier instances; none if the program never served.
func (b *Program) Lookups() []machine.Lookup {
	if b.program == nil {
		return nil
	}
	return b.program.Lookups()
}

// stopPrograms ends all driver programs that run.
func (ds *Drivers) stopPrograms() error {
	var running []*program.Program
	for _, b := range ds.Programs() {
		if b.Running {
			b.hangUp()
			running = append(running, b.program)
		}
	}
	return program.StopAll(running)
}

// Kill ends the instance like SIGKILL.
func (b *Program) Kill() error { return b.program.Kill() }

// Stop ends the instance like SIGTERM.
func (b *Program) Stop() error { return b.program.Stop() }

// LostPower ends the instance like a loss of power.
func (b *Program) LostPower() {
	if b.program != nil {
		b.program.LosePower()
	}
}

// ProgramAt returns the program that serves a socket; nil if it is not one of the run's programs.
func (ds *Drivers) ProgramAt(at wire.Site) *machine.Process {
	for _, b := range ds.Programs() {
		if b.Running && b.servesAt(at) {
			return b.Process()
		}
	}
	return nil
}

// driverOf returns the driver that a process of a machine belongs to, empty if there is none.
func (ds *Drivers) driverOf(m machine.Machine, pid int) string {
	for _, b := range ds.Programs() {
		if b.Running && b.Machine == m && b.program.PID() == pid {
			return b.Driver.Name
		}
	}
	return ""
}

// programsOf returns the programs of a driver that run.
func (ds *Drivers) programsOf(driver string) (all []ledger.Program) {
	for _, b := range ds.Programs() {
		if b.Driver.Name == driver && b.Running {
			all = append(all, ledger.Program{Plugin: b.String(), Node: b.Node, Process: b.Process()})
		}
	}
	return all
}

// Violations returns the drivers' breaches of the CSI spec: those in calls, those in the logs of
// their programs, remains of deleted volumes, and orphans of failed calls.
func (ds *Drivers) Violations() []verdict.Verdict {
	ds.Checks.Remains.Look()
	ds.Checks.Orphans.Look()
	ds.Checks.Archives.Look()
	ds.readLogs()
	return ds.Wire.Violations()
}

// readLogs looks for secrets and data races in the logs of driver programs.
func (ds *Drivers) readLogs() {
	var all []judged.Program
	ran := map[*Driver][]judged.Program{}
	for _, b := range ds.Programs() {
		p := judged.Program{Plugin: b.String(), Driver: b.Driver.Name, Node: b.Node, Ran: b.Ran}
		all, ran[b.Driver] = append(all, p), append(ran[b.Driver], p)
	}
	for _, d := range ds.All {
		if d.IsProgram {
			ds.Checks.Logs.Secrets(d.Name, d.Words, ran[d])
		}
	}
	for _, p := range all {
		ds.Checks.Logs.Races(p)
	}
}

// HasExited reports whether the plugin's program has exited. Its sockets may be closed a moment
// before csisim notices the exit.
func (p *Plugin) HasExited() bool {
	b, is := p.Backend.(*Program)
	if !is {
		return false
	}
	ctx, cancel := context.WithTimeout(p.interrupt, exitTimeout)
	defer cancel()
	select {
	case <-b.program.Done():
		return true
	case <-ctx.Done():
		return false
	}
}

// exitTimeout bounds the wall time between the end of a program's connections and its exit.
const exitTimeout = time.Second
