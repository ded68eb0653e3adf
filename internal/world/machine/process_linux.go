package machine

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/workdir"
)

// ownGroup starts a program in a process group of its own, to die with the thread
// that starts it.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitEnd waits for the end of a child and leaves it to be reaped.
func awaitEnd(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// killNeighbours kills all other processes in the mount namespace of the calling
// thread, which keeps its number from being given to another namespace.
func killNeighbours() error {
	own, err := os.Readlink("/proc/thread-self/ns/mnt")
	if err != nil {
		return err
	}
	_, err = workdir.KillAll(func(pid int) bool {
		its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid))
		return err == nil && its == own
	})
	return err
}
