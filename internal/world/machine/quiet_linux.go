package machine

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/workdir"
)

// Quiet reports whether the program and all its child processes wait or have ended: none of their
// threads computes, or waits for a processor or a disk.
func (p *Process) Quiet() bool {
	for _, pid := range p.Family() {
		if slices.ContainsFunc(threadsOf(pid), works) {
			return false
		}
	}
	return true
}

// Working reports whether the program, or a child process that it has not abandoned, computes or
// waits for a processor or a disk. It takes a tenth of a millisecond. Quiet checks all processes of
// the computer, and takes longer.
func (p *Process) Working() bool { return familyWorks(p.pid) }

// Busy returns the number of threads of the program and its descendants that compute or wait for a
// processor or a disk.
func (p *Process) Busy() (threads int) {
	for _, pid := range descendants(p.pid) {
		for _, thread := range threadsOf(pid) {
			if works(thread) {
				threads++
			}
		}
	}
	return threads
}

func familyWorks(pid int) bool {
	threads := threadsOf(pid)
	return slices.ContainsFunc(threads, works) || slices.ContainsFunc(startedBy(threads), familyWorks)
}

// Family returns the ids of the program and the processes that it has started, including daemons;
// none after its end. They are the processes in its mount namespace or, if that is csisim's own,
// the program and its descendants.
func (p *Process) Family() (pids []int) {
	own, err := namespaceOf(p.pid)
	if err != nil { // it has ended
		return nil
	}
	if csisims, err := namespaceOf(os.Getpid()); err == nil && csisims == own {
		return descendants(p.pid)
	}
	all, err := processes()
	if err != nil {
		return descendants(p.pid)
	}
	for pid, namespace := range all {
		if namespace == own {
			pids = append(pids, pid)
		}
	}
	return pids
}

// descendants returns a process and all of its descendants.
func descendants(pid int) []int {
	pids := []int{pid}
	for _, child := range startedBy(threadsOf(pid)) {
		pids = append(pids, descendants(child)...)
	}
	return pids
}

// threadsOf returns the directories of the threads of a process; none after its end.
func threadsOf(pid int) (threads []string) {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		threads = append(threads, dir+"/"+e.Name())
	}
	return threads
}

// startedBy returns the processes that threads have started. It returns none if the kernel does not
// list them.
func startedBy(threads []string) (children []int) {
	for _, thread := range threads {
		for _, word := range bytes.Fields(readOnce(thread + "/children")) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// works reports whether a thread computes, or waits for a processor or a disk. In its stat the
// state follows the name, which is in parentheses.
func works(thread string) bool {
	stat := readOnce(thread + "/stat")
	state := bytes.LastIndexByte(stat, ')') + len(") ")
	return state < len(stat) && (stat[state] == 'R' || stat[state] == 'D')
}

// readOnce returns the first page of a file of /proc; nothing if it is missing. It makes a third of
// the system calls of os.ReadFile. A check of a program reads two files for each thread.
func readOnce(name string) []byte {
	file, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(file)
	page := make([]byte, 4096)
	n, _ := unix.Read(file, page)
	return page[:max(n, 0)]
}

// processorTime returns the processor time that the program and its child processes have used.
func (p *Process) processorTime() (used time.Duration) {
	for _, pid := range p.Family() {
		if stat, err := workdir.StatOf(pid); err == nil {
			used += time.Duration(stat.Used) * clockTick
		}
	}
	return used
}

// clockTick is the unit in which the kernel counts processor time. It is the same on all systems
// that Go supports.
const clockTick = 10 * time.Millisecond
