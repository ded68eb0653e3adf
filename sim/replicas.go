package sim

import (
	"cmp"
	"fmt"
	"strconv"
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
		name := controlPlaneName
		if n > 0 {
			name = fmt.Sprintf("%s-%d", controlPlaneName, n+1)
		}
		m, err := c.newMachine(name, nil)
		if err != nil {
			return err
		}
		c.controlPlanes = append(c.controlPlanes, m)
	}
	return nil
}

// controllerPlugins returns the number of controller plugins that a driver has beside the plugins
// of its nodes.
func (d Driver) controllerPlugins() int {
	if d.NoController || d.isSingle() {
		return 0
	}
	return max(1, d.Replicas)
}

// isSingle reports whether one program is both the controller plugin and the plugin of a node.
func (d Driver) isSingle() bool { return d.Program != nil && d.Program.Single }

// startReplicas starts the replicas of a driver's controller plugin except the first, which gets
// its number.
func (c *Simulation) startReplicas(d *driver) error {
	if d.Replicas < 2 {
		return nil
	}
	d.controller.replica = 1
	for n := 2; n <= d.Replicas; n++ {
		p, err := c.newPlugin(d, Node{}, c.controlPlanes[n-1], n)
		if err != nil {
			return err
		}
		d.replicas = append(d.replicas, p)
	}
	return nil
}

// controllers returns the controller plugins; none without one.
func (d *driver) controllers() []*plugin {
	if d.controller == nil {
		return nil
	}
	return append([]*plugin{d.controller}, d.replicas...)
}

// replica is nil if the driver's controller plugin has none of the number.
func (d *driver) replica(number string) *plugin {
	for _, p := range d.controllers() {
		if strconv.Itoa(max(1, p.replica)) == number {
			return p
		}
	}
	return nil
}

// pluginsMeant returns the plugins with a name: without a node all replicas of the controller
// plugin, unless the name is the name of one replica.
func (c *Simulation) pluginsMeant(name, node string) ([]*plugin, error) {
	p, err := c.plugin(name, node)
	if err != nil {
		return nil, err
	}
	if node == "" && name == p.driver.Name {
		return append([]*plugin{p}, p.driver.replicas...), nil
	}
	return []*plugin{p}, nil
}

// answering returns the replica of the controller plugin that can answer; the first if none runs.
func (d *driver) answering() *plugin {
	for _, p := range d.replicas {
		if !d.controller.running && p.running {
			return p
		}
	}
	return d.controller
}

// replicaName is the name of a sidecar beside a replica.
func replicaName(name string, p *plugin) string {
	if p.replica == 0 {
		return name
	}
	return fmt.Sprintf("%s/%d", name, p.replica)
}

// podName is the name of a controller plugin's pod, by which a leader is known.
func (p *plugin) podName() string {
	return fmt.Sprintf("%s-controller-%d", p.driver.Name, cmp.Or(p.replica, 1))
}
