package machine

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// unshareIPC gives the calling OS thread a new IPC namespace, and returns the namespace's file.
func unshareIPC() (*os.File, error) {
	if err := unix.Unshare(unix.CLONE_NEWIPC); err != nil {
		return nil, needsRoot("unshare(CLONE_NEWIPC)", err)
	}
	return os.Open(fmt.Sprintf("/proc/self/task/%d/ns/ipc", threadID()))
}

// sharesIPC reports whether the machine has csisim's IPC namespace. udev and device mapper
// synchronize by semaphores, so a driver that uses the host's udev needs the host's namespace.
func (r *ownRoot) sharesIPC() bool {
	return slices.ContainsFunc(r.through, func(dir string) bool { _, is := cutDir("/run/udev", dir); return is })
}

// enterIPC moves the calling OS thread, and its later children, into an IPC namespace; nil means
// the machine's.
func (r *ownRoot) enterIPC(i *IPC) error {
	switch {
	case i != nil:
		return joinIPC(i.namespace)
	case r.sharesIPC():
		return nil
	}
	own, err := r.namespace("ipc")
	if err != nil {
		return err
	}
	defer own.Close()
	return joinIPC(own)
}

func joinIPC(namespace *os.File) error {
	if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWIPC); err != nil {
		return fmt.Errorf("enter the IPC namespace: %w", err)
	}
	return nil
}
