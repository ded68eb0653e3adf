package machine

import (
	"fmt"
	"os"
	"strconv"

	"github.com/csisim/csisim/internal/world/workdir"
)

// Quiet reports whether the program and all that it has started wait for something, or have ended: none of their threads computes, or
// waits for a disk. Who is in a program's mount namespace was started by it.
func (p *Process) Quiet() bool {
	own, err := namespaceOf(p.pid)
	if err != nil {
		return true
	}
	if csisims, err := namespaceOf(os.Getpid()); err == nil && csisims == own {
		return sleeps(p.pid) // nobody knows what it has started
	}
	all, err := processes()
	if err != nil {
		return true
	}
	for pid, namespace := range all {
		if namespace == own && !sleeps(pid) {
			return false
		}
	}
	return true
}

// sleeps reports whether all threads of a process do, as those do that have ended.
func sleeps(pid int) bool {
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, thread := range threads {
		id, _ := strconv.Atoi(thread.Name()) // the kernel wrote it
		if stat, err := workdir.StatOf(id); err == nil && (stat.State == 'R' || stat.State == 'D') {
			return false
		}
	}
	return true
}
