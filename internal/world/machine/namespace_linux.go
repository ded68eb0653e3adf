package machine

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// NewNamespace creates a machine in dir with a separate mount namespace. Neither the host nor other
// nodes see its mounts, which vanish whenever the process ends. It fails with ErrNoPermission if
// the host does not permit namespaces.
//
// The node's own files are in memory: they use no disk and vanish with the namespace. With shared,
// the kubelet's directory is on disk, dir/kubelet, where programs outside the node can find it.
//
// Its programs use node paths directly. The kubelet's directory is the machine's own; ownRoot
// describes the others. Programs see the host's other directories, but write to layers on top of
// them: see Written. Only the directories in through are the host's own. /dev, /sys and /proc/sys
// are read-only.
//
// Like a container, each program has a copy of the namespace. Its mounts below that directory
// propagate to the kubelet and the other programs (Kubernetes' Bidirectional propagation), and its
// mounts and unmounts elsewhere are private.
func NewNamespace(name, dir string, shared bool, through ...string) (*Disk, error) {
	return NewNamespaceWith(name, dir, shared, Layout{}, nil, through...)
}

// NewNamespaceWith is NewNamespace for a machine with another layout, and with a separate network
// for process 1 and for all programs with no other network in their Command.
func NewNamespaceWith(name, dir string, shared bool, l Layout, network *Network, through ...string) (*Disk, error) {
	d := &Disk{name: name, layout: l, net: network}
	within := []string{"fs"}
	if shared {
		within = append(within, "kubelet")
	}
	if err := d.settle(dir, within...); err != nil {
		return nil, fmt.Errorf("make the directory of node %s: %w", name, err)
	}
	d.own = &ownRoot{dir: d.dir + "/fs", layout: l, through: through}
	if shared {
		d.own.kubelet = d.dir + "/kubelet"
	}
	var err error
	if d.thread, err = startThread(d.enter); err == nil {
		err = d.keepBase()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the mount namespace of node %s: %w", name, err), d.Close())
	}
	return d, nil
}

// enter gives the calling OS thread its own mount namespace, host name and root.
func (d *Disk) enter() error {
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
		return needsRoot("unshare(CLONE_NEWNS)", err)
	}
	if err := takeHostname(d.name); err != nil {
		return err
	}
	if !d.own.sharesIPC() {
		own, err := unshareIPC()
		if err != nil {
			return err
		}
		defer own.Close()
	}
	if d.net != nil {
		if err := d.net.enter(); err != nil {
			return err
		}
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return needsRoot("make all mounts private", err)
	}
	if err := d.own.build(); err != nil {
		return needsRoot("build the root directory", err)
	}
	if err := d.own.pivot(); err != nil {
		return needsRoot("change the root directory", err)
	}
	if err := propagate(d.layout.real(), unix.MS_SHARED); err != nil {
		return needsRoot("share the kubelet's directory with programs", err)
	}
	if first := d.own.layers.first.Load(); first != nil {
		if err := errors.Join(first.enterRoot(), first.adopt()); err != nil {
			return err
		}
	}
	d.own.thread = threadID()
	if _, err := os.Stat(d.dir); err != nil {
		return fmt.Errorf("nodes have a directory of their own where the work directory is: choose another: %w", err)
	}
	return nil
}

// SharesProcesses returns the reason why the machine has no separate process 1; nil if it has one.
// Otherwise its programs see csisim's processes, and a program that enters the mount namespace of
// process 1 leaves the machine.
func (d *Disk) SharesProcesses() error { return d.own.layers.apart }

// Memory returns the numbers of a machine's file systems in memory, including those of its
// containers. The machine must be in a namespace.
func (d *Disk) Memory() (numbers []uint64) {
	if d.own == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, root := range append([]*ownRoot{d.own}, d.containers...) {
		numbers = append(numbers, root.memory...)
	}
	return numbers
}

// Memory returns the numbers of the file systems in memory of the program's container.
func (p *Process) Memory() []uint64 {
	if p.root == nil {
		return nil
	}
	return p.root.memory
}

// keepBase records the mounts that make up the empty machine.
func (d *Disk) keepBase() error {
	table, err := d.mountTable()
	if err != nil {
		return err
	}
	d.own.base = pointsOf(table)
	return nil
}

func threadID() int { return unix.Gettid() }

// onMainThread reports whether the calling thread is the main thread, which represents the process
// in /proc.
func onMainThread() bool { return os.Getpid() == unix.Gettid() }
