package sim

import (
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/sim/machine"
)

// stateSeen is where programs find the state of drivers on machines with a mount
// namespace: at the same path in every run, since drivers put it into their answers.
const stateSeen = "/var/lib/csisim"

// stateDir is the directory of the host in which drivers keep their state.
func (c *Simulation) stateDir() string { return filepath.Join(c.work.Path(), "state") }

// showState makes a machine show it.
func (c *Simulation) showState(m *machine.Disk) error {
	c.showsState = true
	if err := m.Show(c.stateDir(), stateSeen); err != nil {
		return &EnvironmentError{"show the state of drivers to node " + m.Name(), err}
	}
	return nil
}

// seenAt is where programs find a directory of the state.
func (c *Simulation) seenAt(dir string) string {
	if below, ok := strings.CutPrefix(dir, c.stateDir()+"/"); ok && c.showsState {
		return filepath.Join(stateSeen, below)
	}
	return dir
}
