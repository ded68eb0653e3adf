package runtime

import (
	"fmt"

	"github.com/csisim/csisim/internal/world/machine"
)

// settleProcesses decides which processes are visible to the container's program. If the container
// has its own root, these are the processes of the node, of the pod, of the container to which it
// was added, or only its own.
func (c *Program) settleProcesses(root *machine.Root) (err error) {
	share := c.pod.Spec.ShareProcessNamespace
	switch {
	case root == nil:
	case c.pod.Spec.HostPID:
		root.HostProcesses = true
	case c.Target != "":
		target := c.runtime.FindProgram(c.pod.UID, c.Target)
		if target == nil || !target.Running() {
			return fmt.Errorf("target container %q is not running", c.Target)
		}
		root.Processes = target.process
		// A program of this machine runs among the node's processes.
		root.HostProcesses = target.Command.Root == nil
	case share != nil && *share:
		root.Processes, err = c.runtime.holderOf(c)
	}
	return err
}

// holderOf returns the program that holds the process namespace that the containers of a pod share.
// The first of these containers starts it.
func (r *Runtime) holderOf(c *Program) (*machine.Process, error) {
	s := r.sandboxes[c.pod.UID]
	if s == nil {
		return nil, fmt.Errorf("pod %s has no sandbox", c.pod.Name)
	}
	if s.holder != nil {
		return s.holder, nil
	}
	root := machine.Root{Dir: c.Command.Root.Dir}
	network, err := r.networkOf(c.pod)
	if err != nil {
		return nil, err
	}
	ipc, err := r.ipcOf(c.pod)
	if err != nil {
		return nil, err
	}
	holder, err := r.options.Machine.Start(machine.Command{Root: &root, Dir: "/", Bare: true, Network: network, IPC: ipc})
	if err != nil {
		return nil, fmt.Errorf("start the sandbox of pod %s: %w", c.pod.Name, err)
	}
	s.holder = holder
	return holder, nil
}
