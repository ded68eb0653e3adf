package sim

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/workdir"
)

// programBackend is a driver program of the run's own.
type programBackend struct {
	*plugin
	spec    program.Spec
	program *program.Program
	loops   *workdir.Loops
	ran     []*machine.Process // all instances, the latest one included
}

// programs are the plugins that are programs of the run's own.
func (c *Simulation) programs() (all []*programBackend) {
	for _, d := range c.drivers {
		if d.Program == nil { // it may be on 10,000 nodes
			continue
		}
		for _, p := range c.plugins(d) {
			all = append(all, p.backend.(*programBackend))
		}
	}
	return all
}

func (c *Simulation) newProgram(p *plugin) (backend, error) {
	d := p.driver
	o := d.Program
	spec := program.Spec{
		Driver: d.Name, NodeName: p.node, Mode: "node", Command: o.Command, Env: o.Env, Socket: p.socket, AddonsSocket: p.addons,
		StateDir: filepath.Join(c.run.work.Path(), "state", d.directory),
		LogDir:   c.logDir(), StartTimeout: o.StartTimeout, Memory: o.Memory, Capabilities: o.Capabilities,
		ServesAt: o.PluginSocket, NodePaths: o.NodePaths, Cluster: c.cluster,
	}
	spec.SeesLookups = c.options.SeesLookups || c.options.FaultSpace.Has(fault.Mounts)
	if access := d.standInAccess(p.node); access != nil {
		spec.ServiceURL = access.URL(access.Machine)
	}
	if o.Single {
		spec.Mode = "all"
	}
	spec.Volumes = o.NodeVolumes
	if p.node == "" {
		spec.Volumes = o.ControllerVolumes
		spec.NodeName, spec.Mode = controlPlaneName, "controller"
		if len(o.ControllerCommand) > 0 {
			spec.Command = o.ControllerCommand
		}
	} else {
		spec.NodeID = p.nodeID()
	}
	spec.NodeStateDir = filepath.Join(c.run.work.Path(), "state", c.cluster, d.directory+"-"+spec.NodeName)
	if p.replica > 1 {
		spec.NodeStateDir += fmt.Sprintf("-%d", p.replica)
	}
	if p.name != "" {
		spec.NodeStateDir += "-" + p.name
	}
	spec.EmptyDirs = spec.NodeStateDir + "-pod"
	b := &programBackend{plugin: p, spec: spec, loops: c.run.loops}
	b.spec.Ended = func(process *machine.Process) {
		c.World.Kernel.Arrive("end of "+p.String(), func() { c.programEnded(b, process) })
	}
	return b, nil
}

func (c *Simulation) logDir() string {
	if c.options.DriverLogs != "" {
		return filepath.Join(c.options.DriverLogs, c.cluster)
	}
	return filepath.Join(c.run.work.Path(), "logs", c.cluster)
}

func (b *programBackend) start() error {
	var err error
	if b.program == nil {
		b.program, err = program.Start(b.interrupt, b.machine, b.spec)
	} else {
		err = b.program.Restart(b.interrupt)
	}
	if err != nil {
		return &EnvironmentError{Doing: "start " + b.String(), Err: err}
	}
	b.ran = append(b.ran, b.program.Process())
	return b.loops.AddMemory(b.program.Process().Memory()...)
}

// stopPrograms ends all driver programs that run.
func (c *Simulation) stopPrograms() error {
	var running []*program.Program
	for _, b := range c.programs() {
		if b.running {
			b.hangUp()
			running = append(running, b.program)
		}
	}
	return program.StopAll(running)
}

func (b *programBackend) kill() error { return b.program.Kill() }
func (b *programBackend) stop() error { return b.program.Stop() }

func (b *programBackend) lostPower() {
	if b.program != nil {
		b.program.LosePower()
	}
}

// Usage describes the resources that the program of a plugin used in a run, and the processes that
// it left, over all its instances.
type Usage struct {
	// Plugin is such as "node plugin of d.example.com on node-a".
	Plugin string
	// Memory is the most that an instance had at once, in bytes.
	Memory int64
	// Left are the commands of the processes that were still running when the instance that had
	// started them ended. They were ended then.
	Left []string
	// Lost are the files of its container that were gone when an instance looked for them: those of
	// an earlier one.
	Lost []machine.Lookup
}

// Usage returns the usage of the programs of drivers. It is known when the simulation is closed.
func (c *Simulation) Usage() (all []Usage) {
	for _, b := range c.programs() {
		all = append(all, b.usage(c))
	}
	return all
}

// withoutSecrets returns a command line without the secrets of the calls so far, which drivers give
// to programs such as mount.
func (c *Simulation) withoutSecrets(command string) string {
	for _, e := range c.Trace().Events() {
		if e.Kind == trace.Call {
			command = trace.RedactText(command, e.Request)
		}
	}
	return command
}

func (b *programBackend) usage(c *Simulation) Usage {
	u := Usage{Plugin: b.String()}
	for _, instance := range b.ran {

		u.Memory = max(u.Memory, instance.PeakMemory())
		for _, command := range instance.Left() {
			u.Left = append(u.Left, c.Wire.Renamed(c.withoutSecrets(command)))
		}
	}
	if b.program == nil {
		return u // it never served
	}
	for _, look := range b.program.Lookups() {
		if !slices.ContainsFunc(u.Lost, func(known machine.Lookup) bool { return known.Path == look.Path }) {
			u.Lost = append(u.Lost, look)
		}
	}
	return u
}
