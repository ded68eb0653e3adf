package sim

import (
	"slices"

	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

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

// Usage is that of the programs of drivers. It is known when the simulation is closed.
func (c *Simulation) Usage() (all []Usage) {
	for b := range c.programs() {
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
