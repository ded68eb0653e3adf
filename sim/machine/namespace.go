package machine

import (
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// NewNamespace makes a machine in dir with a mount namespace of its own: neither
// the host nor other nodes see its mounts, and they vanish when the process ends,
// however that happens. It fails with ErrNoPermission where the host does not
// allow namespaces.
//
// Its programs find node paths where they are: /var/lib/kubelet is the machine's
// own; ownRoot tells what else is, and what is the host's.
//
// All mounts in the namespace are private. Kubernetes asks for Bidirectional
// propagation so that a mount which a driver makes in its container reaches the
// kubelet; here driver and kubelet share one namespace, so each sees the other's
// mounts without any propagation.
func NewNamespace(name, dir string) (*Disk, error) {
	d, err := NewDisk(name, dir)
	if err != nil {
		return nil, err
	}
	d.own = &ownRoot{dir: d.dir + "/fs"}
	if d.thread, err = startThread(d.enter); err == nil {
		err = d.keepBase()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the mount namespace of node %s: %w", name, err), d.Close())
	}
	return d, nil
}

// enter gives the calling OS thread its own mount namespace and root.
func (d *Disk) enter() error {
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
		return needsRoot("unshare(CLONE_NEWNS)", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return needsRoot("make all mounts private", err)
	}
	if err := d.own.build(d.kubelet()); err != nil {
		return needsRoot("build the root directory", err)
	}
	if err := d.own.pivot(); err != nil {
		return needsRoot("change the root directory", err)
	}
	d.own.thread = unix.Gettid()
	if _, err := os.Stat(d.dir); err != nil {
		return fmt.Errorf("nodes have a directory of their own where the work directory is: choose another: %w", err)
	}
	return nil
}

// keepBase remembers the mounts that make up the empty machine.
func (d *Disk) keepBase() error {
	table, err := d.mountTable()
	if err != nil {
		return err
	}
	d.own.base = map[int]bool{}
	for _, entry := range table {
		d.own.base[entry.ID] = true
	}
	return nil
}

// within is where csisim finds a node path on the machine's thread.
func (d *Disk) within(p string) string {
	if d.own != nil {
		return path.Clean("/" + p)
	}
	return d.Path(p)
}

// ProgramPath is where a program of this machine finds a node path.
func (d *Disk) ProgramPath(p string) string { return d.within(p) }
