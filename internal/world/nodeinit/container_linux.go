package nodeinit

import (
	"os"
	"syscall"
)

// Its initial descriptors: for reports, and the container's root.
const (
	reportFile = 3
	rootFile   = 4
)

// becomeContainer makes this process the program of a container.
func becomeContainer(words []string) {
	syscall.CloseOnExec(reportFile)
	c := parse(words)
	report(Beginning, nil)
	var goOn [1]byte
	if n, _ := syscall.Read(reportFile, goOn[:]); n == 0 {
		os.Exit(1)
	}
	for step, do := range []func() error{
		EnteringRoot:     c.enter,
		ShowingProcesses: showOwnProcesses,
		GivingUp:         c.User.giveUp,
		Executing:        c.execute,
	} {
		if do == nil {
			continue
		}
		if err := do(); err != nil {
			report(step, err)
			os.Exit(1)
		}
	}
}

// forkContainer starts a Container as a child of its own parent.
func forkContainer(words []string, terminal bool) {
	attr := &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2, reportFile, rootFile}, Sys: &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_PARENT, Setpgid: !terminal, Setsid: terminal, Setctty: terminal,
	}}
	if _, err := syscall.ForkExec("/proc/self/exe", append([]string{Container}, words...), attr); err != nil {
		report(Forking, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func report(step int, err error) {
	number, _ := err.(syscall.Errno)
	_, _ = syscall.Write(reportFile, []byte{byte(step), byte(number)}) // the reader may be dead
}

// enter makes the container's root the root of the process, and changes to the program's directory
// in it.
func (c ContainerProgram) enter() error {
	for _, do := range []func() error{
		func() error { return syscall.Fchdir(rootFile) },
		func() error { return syscall.Chroot(".") },
		func() error { return syscall.Close(rootFile) },
		func() error { return syscall.Chdir(c.Dir) },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// execute executes the program. If there is none, it sleeps until it is killed.
func (c ContainerProgram) execute() error {
	if c.Path != "" {
		return syscall.Exec(c.Path, c.Args, c.Env)
	}
	if err := syscall.Close(reportFile); err != nil {
		return err
	}
	select {}
}

// ReadOnly are files below /proc that configure the kernel and the machine. Programs may only read
// them.
var ReadOnly = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/bus", "/proc/irq"}

// Masked are files about the memory, the keys and the processes of the whole machine. Programs find
// /dev/null there, as in a container of containerd.
var Masked = []string{"/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/sched_debug", "/proc/timer_list"}

// showOwnProcesses mounts the processes of the namespace, without the machine's other files.
func showOwnProcesses() error {
	if err := showProcesses("/proc"); err != nil {
		return err
	}
	for _, name := range Masked {
		if err := syscall.Mount("/dev/null", name, "", syscall.MS_BIND, ""); err != nil && err != syscall.ENOENT {
			return err
		}
	}
	const again = syscall.MS_REMOUNT | syscall.MS_BIND | syscall.MS_RDONLY | syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC
	for _, name := range ReadOnly {
		err := syscall.Mount(name, name, "", syscall.MS_BIND, "")
		if err == nil {
			err = syscall.Mount("", name, "", again, "")
		}
		if err != nil && err != syscall.ENOENT {
			return err
		}
	}
	return nil
}

// Operations of prctl without a name in package syscall.
const (
	dropFromBounds  = 24 // PR_CAPBSET_DROP
	noNewPrivileges = 38 // PR_SET_NO_NEW_PRIVS
)

// giveUp drops the privileges that the container may not have.
func (c ContainerUser) giveUp() error {
	for number := uintptr(0); number < 64; number++ {
		if c.Dropped&(1<<number) == 0 {
			continue
		}
		// Older kernels lack it.
		if err := prctl(dropFromBounds, number, 0); err != 0 && err != syscall.EINVAL {
			return err
		}
	}
	if err := Deny(!c.Keys); err != nil {
		return err
	}
	if c.NoNewPrivileges {
		if err := prctl(noNewPrivileges, 1, 0); err != 0 {
			return err
		}
	}
	if c.One {
		return nil
	}
	groups := make([]int, len(c.Groups))
	for i, g := range c.Groups {
		groups[i] = int(g)
	}
	if err := syscall.Setgroups(groups); err != nil {
		return err
	}
	if err := syscall.Setgid(int(c.GID)); err != nil {
		return err
	}
	return syscall.Setuid(int(c.UID))
}

func prctl(what, argument, second uintptr) syscall.Errno {
	_, _, err := syscall.RawSyscall6(syscall.SYS_PRCTL, what, argument, second, 0, 0, 0)
	return err
}
