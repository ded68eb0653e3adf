package sim

import (
	"fmt"

	"github.com/csisim/csisim/internal/cluster"
)

// checkReplicas returns the mistake in the number of a controller plugin's replicas.
func (d Driver) checkReplicas(subject string) error {
	switch {
	case d.Replicas < 0:
		return &ConfigError{Subject: subject, Problem: fmt.Sprintf("its controller plugin cannot have %d replicas", d.Replicas)}
	case d.Replicas > 1 && d.NoController:
		return &ConfigError{Subject: subject, Problem: "it has replicas of a controller plugin, and no controller plugin"}
	case d.Replicas > 1 && (d.Socket != nil || d.isSingle()):
		return &ConfigError{Subject: subject, Problem: "only the controller plugin of a mock, of servers or of a program for the controller alone can have replicas"}
	}
	return nil
}

// startControlPlanes creates the computers on which controller plugins run, one for each replica of
// a driver.
func (c *Simulation) startControlPlanes() error {
	most := 0
	for _, d := range c.options.Drivers {
		most = max(most, d.controllerPlugins())
	}
	for n := range most {
		name := cluster.ControlPlane
		if n > 0 {
			name = fmt.Sprintf("%s-%d", cluster.ControlPlane, n+1)
		}
		m, err := c.newMachine(name, nil)
		if err != nil {
			return err
		}
		c.drivers.ControlPlanes = append(c.drivers.ControlPlanes, m)
	}
	return nil
}

// controllerPlugins returns the number of controller plugins that a driver has in addition to its
// node plugins.
func (d Driver) controllerPlugins() int {
	if d.NoController || d.isSingle() {
		return 0
	}
	return max(1, d.Replicas)
}

// isSingle reports whether one program is both the controller plugin and the plugin of a node.
func (d Driver) isSingle() bool { return d.Program != nil && d.Program.Single }
