package check

import "golang.org/x/sys/unix"

// mayResize reports whether this process has CAP_SYS_RESOURCE.
func mayResize() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	return unix.Capget(&header, &sets[0]) == nil && sets[0].Effective&(1<<unix.CAP_SYS_RESOURCE) != 0
}
