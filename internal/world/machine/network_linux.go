package machine

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// unshareNetwork gives the calling OS thread a new network namespace, and returns the namespace's
// file.
func unshareNetwork() (*os.File, error) {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return nil, needsRoot("unshare(CLONE_NEWNET)", err)
	}
	return os.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", threadID()))
}

// enter moves the calling OS thread, and its later children, into the network.
func (n *Network) enter() error {
	if err := unix.Setns(int(n.namespace.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the network of %s: %w", n.Address, err)
	}
	return nil
}
