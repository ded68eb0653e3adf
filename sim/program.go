package sim

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// newProgram returns the backend of a plugin that is a program.
func (c *Simulation) newProgram(p *cluster.Plugin, o *Program) cluster.Backend {
	d := p.Driver
	spec := program.Spec{
		Driver: d.Name, NodeName: p.Node, Mode: "node", Socket: p.Socket, AddonsSocket: p.Addons,
		StateDir: filepath.Join(c.run.work.Path(), "state", d.Directory),
		LogDir:   c.logDir(), StartTimeout: o.StartTimeout, Memory: o.Memory, Capabilities: o.Capabilities,
		ServesAt: o.PluginSocket, Cluster: c.cluster,
	}
	spec.SeesLookups = c.options.SeesLookups || c.options.FaultSpace.Has(fault.Mounts)
	if access := d.StandIn(p.Node); access != nil {
		spec.ServiceURL = access.URL(access.Machine)
	}
	if o.Single {
		spec.Mode = "all"
	}
	if p.Node == "" {
		spec.NodeName, spec.Mode = cluster.ControlPlane, "controller"
	} else {
		spec.NodeID = p.NodeID()
	}
	spec.NodeStateDir = filepath.Join(c.run.work.Path(), "state", c.cluster, d.Directory+"-"+spec.NodeName)
	if p.Replica > 1 {
		spec.NodeStateDir += fmt.Sprintf("-%d", p.Replica)
	}
	if p.Name != "" {
		spec.NodeStateDir += "-" + p.Name
	}
	spec.EmptyDirs = spec.NodeStateDir + "-pod"
	use := func(spec *program.Spec, version string) { o.use(spec, p.Node, version) }
	use(&spec, "")
	b := &cluster.Program{Plugin: p, Spec: spec, Use: use, Loops: c.run.loops}
	c.drivers.Follow(b)
	return b
}

func (c *Simulation) logDir() string {
	if c.options.DriverLogs != "" {
		return filepath.Join(c.options.DriverLogs, c.cluster)
	}
	return filepath.Join(c.run.work.Path(), "logs", c.cluster)
}

// Usage describes the resources that all instances of a plugin's program used in a run, and the
// processes that they left.
type Usage struct {
	// Plugin is, for example, "node plugin of d.example.com on node-a".
	Plugin string
	// Memory is the highest memory usage of one instance, in bytes.
	Memory int64
	// Left are the commands of processes that outlived the instance that had started them. csisim
	// ended them with the instance.
	Left []string
	// Lost are files of a previous container that an instance tried to read.
	Lost []machine.Lookup
}

// Usage returns the usage of the programs of drivers. It is complete when the simulation is closed.
func (c *Simulation) Usage() (all []Usage) {
	for _, b := range c.drivers.Programs() {
		all = append(all, c.usage(b))
	}
	return all
}

func (c *Simulation) usage(b *cluster.Program) Usage {
	u := Usage{Plugin: b.String()}
	for _, instance := range b.Ran {
		u.Memory = max(u.Memory, instance.PeakMemory())
		for _, command := range instance.Left() {
			u.Left = append(u.Left, c.Wire.Renamed(withoutSecrets(c.Trace().Events(), command)))
		}
	}
	for _, look := range b.Lookups() {
		if !slices.ContainsFunc(u.Lost, func(known machine.Lookup) bool { return known.Path == look.Path }) {
			u.Lost = append(u.Lost, look)
		}
	}
	return u
}

// withoutSecrets returns a command line without the secrets of the calls so far, which drivers give
// to programs such as mount.
func withoutSecrets(events []*trace.Event, command string) string {
	for _, e := range events {
		if e.Kind == trace.Call {
			command = trace.RedactText(command, e.Request)
		}
	}
	return command
}
