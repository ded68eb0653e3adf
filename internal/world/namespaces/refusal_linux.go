package namespaces

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Refused determines the reason why this process may not create mount namespaces; nil if it may. It
// changes nothing.
func Refused() *Refusal {
	failed := tryNamespace()
	if failed == nil {
		return nil
	}
	return look(failed).refusal()
}

// tryNamespace makes a mount namespace and a mount in it, on a thread that ends afterwards.
func tryNamespace() error {
	result := make(chan error, 1)
	go onLastThread(func() {
		err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS)
		if err != nil {
			err = fmt.Errorf("unshare(CLONE_NEWNS): %w", err)
		} else if err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			err = fmt.Errorf("mount: %w", err)
		}
		result <- err
	})
	return <-result
}

// onLastThread runs f on an OS thread that ends with the calling goroutine. The main thread never
// ends, so it is held until another thread is found.
func onLastThread(f func()) {
	runtime.LockOSThread()
	if os.Getpid() != unix.Gettid() {
		f()
		return
	}
	found := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		close(found)
		f()
	}()
	<-found
	runtime.UnlockOSThread()
}

func look(failed error) facts {
	f := facts{root: os.Geteuid() == 0, failed: failed, tried: refused, filters: filtered(), profile: profile()}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch name {
		case "CapEff":
			mask, _ := strconv.ParseUint(value, 16, 64)
			f.sysAdmin = mask&(1<<unix.CAP_SYS_ADMIN) != 0
		case "Seccomp":
			f.seccomp = value != "0"
		}
	}
	for _, s := range []struct{ file, off, better string }{
		{"user/max_user_namespaces", "0", "10000"},
		{"kernel/unprivileged_userns_clone", "0", "1"},
		{"kernel/apparmor_restrict_unprivileged_userns", "1", "0"},
	} {
		value, err := os.ReadFile("/proc/sys/" + s.file)
		if err == nil && strings.TrimSpace(string(value)) == s.off {
			f.switches = append(f.switches, userSwitch{strings.ReplaceAll(s.file, "/", "."), s.off, s.better})
		}
	}
	f.chrooted = chrooted()
	return f
}

// filtered returns the system calls that a seccomp filter forbids. The calls have arguments that
// the kernel rejects before it checks permissions, so that a filter's error differs.
func filtered() (calls []string) {
	// 1 is no flag.
	if _, _, err := unix.RawSyscall(unix.SYS_UNSHARE, unix.CLONE_NEWUSER|1, 0, 0); err != unix.EINVAL {
		calls = append(calls, "unshare(2)")
	}
	invalid := uintptr(1) // no address
	if _, _, err := unix.RawSyscall6(unix.SYS_MOUNT, invalid, invalid, invalid, 0, 0, 0); err != unix.EFAULT {
		calls = append(calls, "mount(2)")
	}
	return calls
}

// profile returns the AppArmor profile that confines this process.
func profile() string {
	text, err := os.ReadFile("/proc/self/attr/apparmor/current")
	if err != nil {
		text, _ = os.ReadFile("/proc/self/attr/current")
	}
	name, enforced := strings.CutSuffix(strings.TrimRight(string(text), "\n\x00"), " (enforce)")
	if !enforced {
		return ""
	}
	return name
}

// chrooted reports whether the root directory is below that of the mount namespace, or outside it.
// The kernel then lists no mount for the root.
func chrooted() bool {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[4] == "/" {
			return false
		}
	}
	return true
}
