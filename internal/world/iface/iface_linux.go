package iface

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Up activates an interface in the network namespace of the calling OS thread, such as "lo".
func Up(name string) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(socket)
	r, err := unix.NewIfreq(name)
	if err == nil {
		r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
		err = os.NewSyscallError("ioctl(SIOCSIFFLAGS)", unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, r))
	}
	if err != nil {
		return fmt.Errorf("turn on %s: %w", name, err)
	}
	return nil
}
