package nodeinit

import (
	"os"
	"os/signal"
	"syscall"
)

func init() {
	switch {
	case len(os.Args) == 0:
		return
	case os.Args[0] == Container:
		becomeContainer(os.Args[1:])
	case os.Args[0] == Fork, os.Args[0] == ForkWithTerminal:
		forkContainer(os.Args[1:], os.Args[0] == ForkWithTerminal)
	case os.Args[0] != Name || os.Getpid() != 1:
		return
	}
	// Signals to process 1 must not end the node. The kernel reaps the children of a process that
	// ignores SIGCHLD.
	signal.Ignore()
	if answer(showProcesses("proc")) && awaitRoot() {
		answer(enterRoot())
		awaitRoot()
	}
	os.Exit(0)
}

// showProcesses mounts the files of the namespace's processes.
func showProcesses(dir string) error {
	return syscall.Mount("proc", dir, "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, "")
}

// enterRoot makes the current directory the process's root.
func enterRoot() error {
	if err := syscall.Chroot("."); err != nil {
		return err
	}
	return syscall.Chdir("/")
}

// awaitRoot reads a byte; false at the end.
func awaitRoot() bool {
	var one [1]byte
	n, err := os.Stdin.Read(one[:])
	return n == 1 && err == nil
}

// answer writes the result of a step and reports whether it succeeded.
func answer(err error) bool {
	number, _ := err.(syscall.Errno)
	if err != nil && number == 0 {
		number = syscall.EIO
	}
	_, failed := os.Stdout.Write([]byte{byte(number)})
	return err == nil && failed == nil
}
