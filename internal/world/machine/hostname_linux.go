package machine

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// longestHostname is Linux's limit.
const longestHostname = 64

// takeHostname gives the calling OS thread, and its children, a separate host name.
func takeHostname(name string) error {
	if err := unix.Unshare(unix.CLONE_NEWUTS); err != nil {
		return needsRoot("unshare(CLONE_NEWUTS)", err)
	}
	return os.NewSyscallError("sethostname", unix.Sethostname([]byte(name[:min(len(name), longestHostname)])))
}

// joinHostname gives the calling OS thread the host name of another thread, by the file of its
// namespace.
func joinHostname(namespace *os.File) error {
	if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWUTS); err != nil {
		return fmt.Errorf("enter the namespace of the host name: %w", err)
	}
	return nil
}
