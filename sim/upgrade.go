package sim

import (
	"cmp"
	"fmt"

	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/version"
)

// Upgrade describes the changes with which a program is restarted.
type Upgrade struct {
	// Kubernetes is the new version. Default: the present version.
	Kubernetes version.Version
	// Migration are the in-tree plugins with a new stage. Default: none.
	Migration migration.Plugins
}

// inWords describes the upgrade of a program.
func (u Upgrade) inWords(from, to version.Version) string {
	if from == to {
		return "started with other plugins migrated"
	}
	return fmt.Sprintf("upgraded from %s to %s", from, to)
}

// UpgradeKubelet ends the kubelet of a node, if it runs, and starts it in another version, or with
// other migrated plugins. Pods and mounts are unchanged: the node is not drained.
func (c *Simulation) UpgradeKubelet(name string, u Upgrade) error {
	n, err := c.nodes.Named(name)
	if err != nil {
		return err
	}
	to := cmp.Or(u.Kubernetes, n.Version)
	subject := fmt.Sprintf("upgrade of node %q", name)
	if err := u.Migration.Validate(); err != nil {
		return &ConfigError{Subject: subject, Problem: err.Error()}
	}
	if err := version.CheckSkew(to, c.World.Version); err != nil {
		return &ConfigError{Subject: subject, Problem: err.Error()}
	}
	runs := n.Kubelet != nil
	if runs {
		c.nodes.CrashKubelet(n)
	}
	c.World.Trace.Note(name, "kubelet %s", u.inWords(n.Version, to))
	n.Version, n.Migration = to, n.Migration.With(u.Migration)
	if runs {
		c.nodes.StartKubelet(n)
	}
	return nil
}

// UpgradeControlPlane ends the API server, the controllers of kube-controller-manager and the
// scheduler, if they run. It starts them in another version, or with other migrated plugins. The
// sidecars of drivers do not belong to the control plane.
func (c *Simulation) UpgradeControlPlane(u Upgrade) error {
	const subject = "upgrade of the control plane"
	from, to := c.World.Version, cmp.Or(u.Kubernetes, c.World.Version)
	if err := u.Migration.Validate(); err != nil {
		return &ConfigError{Subject: subject, Problem: err.Error()}
	}
	if err := version.CheckUpgrade(from, to); err != nil {
		return &ConfigError{Subject: subject, Problem: err.Error()}
	}
	for _, n := range c.nodes.All {
		if err := version.CheckSkew(n.Version, to); err != nil {
			return &ConfigError{Subject: subject, Problem: fmt.Sprintf("node %s: %v", n.Name, err)}
		}
	}
	c.World.Trace.Note("", "control plane %s", u.inWords(from, to))
	c.options.Migration = c.options.Migration.With(u.Migration)
	c.World.Version, c.World.Migration = to, migration.Of(to).With(c.options.Migration)
	c.controllers.RestartControlPlane()
	return nil
}
