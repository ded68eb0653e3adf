package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

var (
	errElsewhere = errors.New("it is the node's own")
	// errAbsent is the error of a way that this machine does not have.
	errAbsent = errors.New("the machine has none")
)

// writeFile writes to a file of the machine. The test sees whether it is there.
func writeFile(t target) error {
	return os.WriteFile(t["file"], []byte("reached\n"), 0o644)
}

// openByHandle opens the root directory of each file system by the number of its inode.
func openByHandle(target) error {
	handle := unix.NewFileHandle(1, []byte{2, 0, 0, 0, 0, 0, 0, 0}) // inode 2, as in ext4
	return eachMount(func(fields []string) error {
		at, err := unix.Open(fields[1], unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(at)
		root, err := unix.OpenByHandleAt(at, handle, unix.O_RDONLY)
		if errors.Is(err, unix.ESTALE) || errors.Is(err, unix.EOPNOTSUPP) {
			return nil // the call itself is allowed
		}
		if err == nil {
			err = unix.Close(root)
		}
		return err
	})
}

// openDevice makes the node of a loop device of the test and writes to it.
func openDevice(t target) error {
	number, err := strconv.Atoi(t["loop"])
	if err != nil {
		number = 0
	}
	var attempts []func() error
	for _, dir := range []string{"/tmp", "/", "/data", "/dev", "/dev/shm", "/var/lib/kubelet"} {
		attempts = append(attempts, func() error {
			node := filepath.Join(dir, "hostile-node")
			if err := unix.Mknod(node, unix.S_IFBLK|0o600, int(unix.Mkdev(7, uint32(number)))); err != nil {
				return err
			}
			defer os.Remove(node)
			device, err := os.OpenFile(node, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = device.WriteString("reached\n")
			return errors.Join(err, device.Close())
		})
	}
	return first(attempts...)
}

func writeLog(target) error {
	return first(func() error { return sayTo("/dev/kmsg") }, func() error {
		const node = "/tmp/hostile-log"
		if err := unix.Mknod(node, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 11))); err != nil {
			return err
		}
		defer os.Remove(node)
		return sayTo(node)
	})
}

// sayTo writes a line to the kernel's log.
func sayTo(name string) error {
	log, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer log.Close()
	var stat unix.Stat_t
	if err := unix.Fstat(int(log.Fd()), &stat); err != nil {
		return err
	}
	if stat.Rdev != unix.Mkdev(1, 11) {
		return errElsewhere
	}
	_, err = log.WriteString("csisim's test of isolation: harmless\n")
	return err
}

func setParameter(target) error { return again("/proc/sys/kernel/panic") }

func setParameterElsewhere(target) error {
	return first(withMount("proc", func(dir string) error { return again(dir + "/sys/kernel/panic") }), func() error {
		if err := unix.Mount("", "/proc/sys", "", unix.MS_REMOUNT|unix.MS_BIND, ""); err != nil {
			return err
		}
		return setParameter(nil)
	})
}

const deviceParameter = "/block/loop0/queue/read_ahead_kb"

func setDevice(target) error { return again("/sys" + deviceParameter) }

func setDeviceElsewhere(target) error {
	return first(withMount("sysfs", func(dir string) error { return again(dir + deviceParameter) }), func() error {
		if err := unix.Mount("", "/sys", "", unix.MS_REMOUNT|unix.MS_BIND, ""); err != nil {
			return err
		}
		return setDevice(nil)
	})
}

// again writes the value of a file to it.
func again(name string) error {
	value, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, value, 0)
}

// setReleaseAgent sets that of a version 1 hierarchy to its present one, or the root group of
// version 2 where there is none.
func setReleaseAgent(target) error {
	agents, _ := filepath.Glob("/sys/fs/cgroup/*/release_agent")
	var attempts []func() error
	for _, agent := range agents {
		attempts = append(attempts, func() error { return again(agent) })
	}
	attempts = append(attempts, func() error {
		return withMountOf("cgroup", "none,name=csisim-hostile", func(dir string) error { return again(dir + "/release_agent") })()
	})
	return first(attempts...)
}

// makeDevice makes a file beside the device nodes. The test sees whether it is there.
func makeDevice(t target) error {
	touch := func(dir string) error { return os.WriteFile(filepath.Join(dir, t["dev"]), nil, 0o644) }
	return first(withMount("devtmpfs", touch), func() error { return touch("/dev") })
}

func setClock(target) error {
	var now unix.Timex // ADJ_STATUS with the present status
	if _, err := unix.Adjtimex(&now); err != nil {
		return err
	}
	now.Modes = unix.ADJ_STATUS
	_, err := unix.Adjtimex(&now)
	return err
}

// loadModule loads nothing: an empty file is no module. A kernel without modules shows only whether
// the program has the capability.
func loadModule(target) error {
	err := unix.InitModule(nil, "")
	if errors.Is(err, unix.ENOSYS) {
		var sets [2]unix.CapUserData
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		users, _ := os.ReadFile("/proc/self/uid_map") // root of a user namespace loads none
		if err := unix.Capget(&header, &sets[0]); err != nil || sets[0].Effective&(1<<unix.CAP_SYS_MODULE) == 0 || !isWhole(string(users)) {
			return unix.EPERM
		}
		return nil
	}
	if errors.Is(err, unix.EPERM) {
		return err
	}
	return nil
}

// isWhole reports whether a user namespace has all users of the machine.
func isWhole(users string) bool { return strings.Contains(users, "4294967295") }

// number returns the number in a word, 0 without one.
func number(word string) int {
	n, _ := strconv.Atoi(word)
	return n
}

func seeProcess(t target) error {
	pid, err := strconv.Atoi(t["pid"])
	if err != nil {
		return err
	}
	if err := unix.Kill(pid, 0); err != nil {
		return err
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err == nil && !strings.Contains(string(name), t["process"]) {
		err = errElsewhere
	}
	return err
}

func readSegment(t target) error {
	key, err := strconv.Atoi(t["key"])
	if err != nil {
		return err
	}
	_, err = unix.SysvShmGet(key, 0, 0)
	return err
}

// changeNetwork adds an address to loopback. The test sees whether it is the machine's.
func changeNetwork(t target) error {
	if own, err := os.Readlink("/proc/self/ns/net"); err != nil || own != t["net"] {
		return errElsewhere
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	var request struct {
		name [16]byte
		addr unix.RawSockaddrInet4
		_    [8]byte
	}
	copy(request.name[:], "lo:77")
	request.addr.Family, request.addr.Addr = unix.AF_INET, [4]byte{127, 77, 77, 77}
	_, _, number := unix.Syscall(unix.SYS_IOCTL, uintptr(socket), unix.SIOCSIFADDR, uintptr(unsafe.Pointer(&request)))
	if number != 0 {
		return number
	}
	request.addr.Addr = [4]byte{} // removes it
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(socket), unix.SIOCSIFADDR, uintptr(unsafe.Pointer(&request)))
	return nil
}

func connect(t target) error {
	conn, err := net.DialTimeout("tcp4", net.JoinHostPort("127.0.0.1", t["port"]), 2*time.Second)
	if err == nil {
		err = conn.Close()
	}
	return err
}

func withMount(kind string, do func(dir string) error) func() error {
	return withMountOf(kind, "", do)
}

// withMountOf mounts a file system of the kernel anew.
func withMountOf(kind, options string, do func(dir string) error) func() error {
	return func() error {
		const dir = "/tmp/hostile-mount"
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := unix.Mount("hostile", dir, kind, 0, options); err != nil {
			return err
		}
		return errors.Join(do(dir), unix.Unmount(dir, unix.MNT_DETACH))
	}
}

// eachMount returns nil if a mount succeeds.
func eachMount(try func(fields []string) error) error {
	table, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	var attempts []func() error
	for line := range strings.Lines(string(table)) {
		attempts = append(attempts, func() error { return try(strings.Fields(line)) })
	}
	return first(attempts...)
}
