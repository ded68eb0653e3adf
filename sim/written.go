package sim

import (
	"slices"

	"github.com/csisim/csisim/internal/world/machine"
)

// Written is what programs of drivers and pods have written in the host's directories, or
// would have, had they not been given a view of their own: "node-a: made /etc/x". What is
// in the places of a driver and in Options.HostPaths is not among it. It is known when the
// simulation is closed.
func (c *Simulation) Written() []string { return c.written }

// keepWritten looks for what programs have written, before their machines are gone.
func (c *Simulation) keepWritten() error {
	machines := slices.Clone(c.controlPlanes)
	for _, n := range c.nodes {
		machines = append(machines, n.machine)
	}
	for _, m := range machines {
		disk, is := m.(*machine.Disk)
		if !is {
			continue
		}
		changes, err := disk.Written()
		if err != nil {
			return err
		}
		for _, change := range changes {
			if line := m.Name() + ": " + change; !slices.Contains(c.written, line) {
				c.written = append(c.written, line)
			}
		}
	}
	return nil
}
