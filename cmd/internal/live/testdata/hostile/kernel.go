package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// putKey gives the program that this one becomes a key in its session and in the keyring of its
// user, as a login does.
func putKey(name string) error {
	if _, _, err := unix.Syscall(unix.SYS_KEYCTL, unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0); err != 0 {
		return err
	}
	for _, ring := range []int{unix.KEY_SPEC_SESSION_KEYRING, unix.KEY_SPEC_USER_KEYRING} {
		if _, err := unix.AddKey("user", name, []byte("secret"), ring); err != nil {
			return err
		}
	}
	return nil
}

func readKey(t target) error {
	return first(readKeyIn(t, unix.KEY_SPEC_SESSION_KEYRING), readKeyIn(t, unix.KEY_SPEC_USER_KEYRING), func() error {
		// Keys there can be read if the session has the keyring of the user.
		if _, err := unix.KeyctlInt(unix.KEYCTL_LINK, unix.KEY_SPEC_USER_KEYRING, unix.KEY_SPEC_SESSION_KEYRING, 0, 0); err != nil {
			return err
		}
		return readKeyIn(t, unix.KEY_SPEC_SESSION_KEYRING)()
	})
}

func readKeyIn(t target, ring int) func() error {
	return func() error {
		key, err := unix.KeyctlSearch(ring, "user", t["secret"], 0)
		if err != nil {
			return err
		}
		_, err = unix.KeyctlBuffer(unix.KEYCTL_READ, key, make([]byte, 16), 0)
		return err
	}
}

// openQueue opens a message queue of the test: of System V, or of POSIX.
func openQueue(t target) error {
	return first(func() error {
		key := number(t["key"])
		if _, _, err := unix.Syscall(unix.SYS_MSGGET, uintptr(key), 0, 0); err != 0 {
			return err
		}
		return nil
	}, func() error {
		name, err := unix.BytePtrFromString(t["queue"])
		if err != nil {
			return err
		}
		fd, _, failed := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_RDONLY, 0, 0, 0, 0)
		if failed != 0 {
			return failed
		}
		return unix.Close(int(fd))
	})
}

// connectAbstract connects to a socket of the test without a file.
func connectAbstract(t target) error {
	conn, err := net.Dial("unix", "@"+t["abstract"])
	if err == nil {
		err = conn.Close()
	}
	return err
}

// readPackets opens a socket for all packets of the machine, and reads none.
func readPackets(t target) error {
	if own, err := os.Readlink("/proc/self/ns/net"); err != nil || own != t["net"] {
		return errElsewhere
	}
	socket, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Close(socket)
}

// setName sets the host name to the present one.
func setName(t target) error {
	if own, err := os.Readlink("/proc/self/ns/uts"); err != nil || own != t["uts"] {
		return errElsewhere
	}
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	return unix.Sethostname([]byte(name))
}

// enterNamespace opens the machine's mount namespace at a process that it sees.
func enterNamespace(t target) error {
	files, _ := filepath.Glob("/proc/[0-9]*/ns/mnt")
	for _, file := range files {
		if name, err := os.Readlink(file); err == nil && name == t["mnt"] {
			return nil
		}
	}
	return errElsewhere
}

// killGroup opens the file that kills the control group of the test, and writes nothing.
func killGroup(t target) error {
	if t["group"] == "" {
		return errAbsent
	}
	open := func(dir string) error {
		file, err := os.OpenFile(filepath.Join(dir, t["group"], "cgroup.kill"), os.O_WRONLY, 0)
		if err == nil {
			err = file.Close()
		}
		return err
	}
	return first(func() error { return open("/sys/fs/cgroup/unified") }, func() error { return open("/sys/fs/cgroup") }, withMount("cgroup2", open))
}

// loadProgram loads a program that would see the whole kernel, and attaches it to nothing.
func loadProgram(target) error {
	const (
		load  = 5         // BPF_PROG_LOAD
		probe = 2         // BPF_PROG_TYPE_KPROBE
		zero  = 0xb7      // r0 = 0
		exit  = 0x95      // return r0
		gpl   = "GPL\x00" // its licence
	)
	program := [2]uint64{zero, exit}
	licence := []byte(gpl)
	attributes := struct {
		kind, count      uint32
		program, licence uint64
		_                [96]byte
	}{kind: probe, count: uint32(len(program)), program: uint64(uintptr(unsafe.Pointer(&program))), licence: uint64(uintptr(unsafe.Pointer(&licence[0])))}
	fd, _, err := unix.Syscall(unix.SYS_BPF, load, uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes))
	if err != 0 {
		return err
	}
	return unix.Close(int(fd))
}

// countEvents opens a counter of the first processor, for all processes.
func countEvents(target) error {
	attributes := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Bits: unix.PerfBitDisabled}
	fd, err := unix.PerfEventOpen(&attributes, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// openTo opens a file for writing, and writes nothing.
func openTo(name string) error {
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return file.Close()
}

func commandKernel(target) error {
	if _, err := os.Stat("/proc/sysrq-trigger"); os.IsNotExist(err) {
		return errAbsent
	}
	return first(func() error { return openTo("/proc/sysrq-trigger") }, withMount("proc", func(dir string) error { return openTo(dir + "/sysrq-trigger") }))
}

func setHelper(target) error {
	if _, err := os.Stat("/sys/kernel/uevent_helper"); os.IsNotExist(err) {
		return errAbsent
	}
	return first(func() error { return again("/sys/kernel/uevent_helper") }, withMount("sysfs", func(dir string) error { return again(dir + "/kernel/uevent_helper") }))
}

// registerFormat opens the file that names the interpreters of programs, if it is the machine's: a
// user namespace has its own.
func registerFormat(target) error {
	if users, _ := os.ReadFile("/proc/self/uid_map"); !isWhole(string(users)) {
		return errElsewhere
	}
	err := withMount("binfmt_misc", func(dir string) error { return openTo(dir + "/register") })()
	if errors.Is(err, unix.ENODEV) {
		return errAbsent
	}
	return err
}

// swap adds a file that does not exist to the memory of the machine: the permission is checked
// first.
func swap(target) error {
	name, err := unix.BytePtrFromString("/hostile-swap-that-does-not-exist")
	if err != nil {
		return err
	}
	return unlessMissing(unix.SYS_SWAPON, unix.ENOENT, uintptr(unsafe.Pointer(name)), 0)
}

// loadKernel loads a kernel of too many parts: the permission is checked first.
func loadKernel(target) error {
	const tooMany = 1 << 10
	return unlessMissing(unix.SYS_KEXEC_LOAD, unix.EINVAL, 0, tooMany)
}

// unlessMissing returns nil if a call fails as one that is permitted.
func unlessMissing(call uintptr, permitted unix.Errno, first, second uintptr) error {
	_, _, err := unix.Syscall6(call, first, second, 0, 0, 0, 0)
	if err == permitted {
		return nil
	}
	return err
}

// restart calls for a restart in words that the kernel does not know: the permission is checked
// first.
func restart(target) error { return unlessMissing(unix.SYS_REBOOT, unix.EINVAL, 0, 0) }
