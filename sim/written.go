package sim

import (
	"slices"

	"github.com/csisim/csisim/internal/world/machine"
)

// Written returns the changes of the host's directories by programs of drivers and pods. In views
// of their own these changes were kept off the host: "node-a: made /etc/x". Changes in the places
// of a driver and in Options.HostPaths are left out. It is known when the simulation is closed.
func (c *Simulation) Written() []string { return c.written }

// keepWritten collects the changes of programs, before their machines are closed.
func (c *Simulation) keepWritten() error {
	machines := slices.Clone(c.controlPlanes)
	for _, n := range c.nodes.All {
		machines = append(machines, n.Machine)
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
