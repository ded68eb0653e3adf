package network

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/iface"
)

// interfaceName is its name in pods and nodes.
const interfaceName = "eth0"

// device is an end of a TUN device; its other end is the interface of a network namespace.
type device struct {
	address netip.Addr
	file    *os.File
	ctx     context.Context // of the connections through it
	end     context.CancelFunc
}

// write sends a packet to the namespace. A rejected packet is lost, as on any network.
func (d *device) write(packet []byte) { _, _ = d.file.Write(packet) }

// openDevice creates the interface, and the default route through it, in the network namespace of
// the calling OS thread.
func openDevice(at netip.Addr) (*device, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: "/dev/net/tun", Err: err}
	}
	if err := configure(fd, at); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	// The file can be polled only after it has an interface.
	return &device{address: at, file: os.NewFile(uintptr(fd), "tun of "+at.String())}, nil
}

// configure creates the interface of a file, and sets its address and that of loopback.
func configure(tun int, at netip.Addr) error {
	own, err := unix.NewIfreq(interfaceName)
	if err != nil {
		return err
	}
	own.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(tun, unix.TUNSETIFF, own); err != nil {
		return os.NewSyscallError("ioctl(TUNSETIFF)", err)
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(socket)
	if err := iface.Up("lo"); err != nil {
		return err
	}
	ip := at.As4()
	for _, set := range []struct {
		what   string
		number uint
		to     func(*unix.Ifreq) error
	}{
		{"SIOCSIFADDR", unix.SIOCSIFADDR, func(r *unix.Ifreq) error { return r.SetInet4Addr(ip[:]) }},
		{"SIOCSIFNETMASK", unix.SIOCSIFNETMASK, func(r *unix.Ifreq) error { return r.SetInet4Addr([]byte{255, 255, 255, 255}) }},
		{"SIOCSIFMTU", unix.SIOCSIFMTU, func(r *unix.Ifreq) error { r.SetUint32(mtu); return nil }},
	} {
		if own, err = unix.NewIfreq(interfaceName); err == nil {
			err = set.to(own)
		}
		if err == nil {
			err = os.NewSyscallError("ioctl("+set.what+")", unix.IoctlIfreq(socket, set.number, own))
		}
		if err != nil {
			return fmt.Errorf("set up %s: %w", interfaceName, err)
		}
	}
	if err := iface.Up(interfaceName); err != nil {
		return err
	}
	return addDefaultRoute(socket)
}

// route is Linux' struct rtentry.
type route struct {
	_                    uintptr
	to, gateway, netmask unix.RawSockaddrInet4
	flags                uint16
	_                    int16
	_                    uintptr
	_                    *byte
	metric               int16
	device               *byte
	mtu, window          uintptr
	roundTrip            uint16
}

// addDefaultRoute adds the default route through the interface.
func addDefaultRoute(socket int) error {
	name, err := unix.BytePtrFromString(interfaceName)
	if err != nil {
		return err
	}
	anywhere := unix.RawSockaddrInet4{Family: unix.AF_INET}
	r := route{to: anywhere, gateway: anywhere, netmask: anywhere, flags: unix.RTF_UP, device: name}
	if _, _, failed := unix.Syscall(unix.SYS_IOCTL, uintptr(socket), unix.SIOCADDRT, uintptr(unsafe.Pointer(&r))); failed != 0 {
		return fmt.Errorf("route through %s: %w", interfaceName, os.NewSyscallError("ioctl(SIOCADDRT)", failed))
	}
	return nil
}
