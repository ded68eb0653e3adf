package machine

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/workdir"
)

// ownGroup starts a program in a separate process group. The program is killed with process 1 of
// its machine or, if there is none, with the thread that starts it. It cannot depend on both,
// because a process treats a parent outside its process namespace as dead.
func (d *Disk) ownGroup() *syscall.SysProcAttr {
	if d.own != nil && d.own.layers.first.Load() != nil {
		return &syscall.SysProcAttr{Setpgid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitEnd waits for the end of a child without reaping it.
func awaitEnd(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// killNeighbours kills all other processes in the mount namespace of a program's thread, and
// returns their commands. The thread keeps the namespace's number from being reused. The program
// itself is not reaped yet.
func (d *Disk) killNeighbours(t *thread) (commands []string, err error) {
	if d.own == nil || !d.mayHaveStrays() {
		return nil, nil
	}
	own, err := os.Readlink(t.file("ns/mnt"))
	if err != nil {
		return nil, err
	}
	found := map[int]bool{} // a killed process may still be there at the next look
	_, err = workdir.KillAll(func(pid int) bool {
		its, err := namespaceOf(pid)
		if err != nil || its != own {
			return false
		}
		// Skip a process that will end by itself in a moment.
		if command := commandOf(pid); command != "" && !found[pid] {
			found[pid] = true
			commands = append(commands, command)
		}
		return true
	})
	return commands, err
}

// killLeft kills processes that ended programs have started and that have left the program's group.
func (d *Disk) killLeft() error {
	if d.own != nil && !d.mayHaveStrays() {
		return nil
	}
	_, err := workdir.KillPrograms(d.dir)
	return err
}
