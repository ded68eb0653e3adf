package sim

import (
	"fmt"

	"github.com/csisim/csisim/internal/world/machine"
)

// Mount bind-mounts a directory of a node at another path of the node, like an administrator.
// Missing directories are made. The mount lasts until Unmount or a loss of power. A driver that
// unmounts it is reported.
func (c *Simulation) Mount(node, source, target string) error {
	n, err := c.nodes.Named(node)
	if err != nil {
		return err
	}
	if n.Off {
		return &ConfigError{Subject: fmt.Sprintf("node %q", node), Problem: "it has no power"}
	}
	disk, onDisk := n.Machine.(*machine.Disk)
	for _, dir := range []string{source, target} {
		if onDisk {
			disk.KeepOnNode(dir)
		}
		if err := n.Machine.MkdirAll(dir, 0o755); err != nil {
			return &ConfigError{Subject: fmt.Sprintf("directory %q on %s", dir, node), Problem: err.Error()}
		}
	}
	if err := n.Machine.BindMount(source, target, false); err != nil {
		return &EnvironmentError{Doing: fmt.Sprintf("mount %s on %s of %s", source, target, node), Err: err}
	}
	c.World.Trace.Note(node, "an administrator mounted %s on %s", source, target)
	c.checks.Watch.MountedByHand(n.Machine, target)
	return nil
}

// Unmount removes a mount that Mount has made.
func (c *Simulation) Unmount(node, target string) error {
	n, err := c.nodes.Named(node)
	if err != nil {
		return err
	}
	if err := n.Machine.Unmount(target); err != nil {
		return &ConfigError{Subject: fmt.Sprintf("mount %q on %s", target, node), Problem: err.Error()}
	}
	c.World.Trace.Note(node, "an administrator unmounted %s", target)
	c.checks.Watch.ResetMounts(n.Machine)
	return nil
}
