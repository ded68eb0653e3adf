package machine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/csisim/csisim/internal/world/workdir"
)

// Quiet reports whether the program and all processes that it has started wait for something, or
// have ended: none of their threads computes, or waits for a processor or a disk.
func (p *Process) Quiet() bool {
	for _, pid := range p.family() {
		if works(pid) {
			return false
		}
	}
	return true
}

// Working reports whether the program, or a process that it has started and not left, computes or
// waits for a processor or a disk. It takes a tenth of a millisecond: Quiet, which looks at all
// processes of the computer, takes longer.
func (p *Process) Working() bool { return familyWorks(p.pid) }

func familyWorks(pid int) bool {
	if works(pid) {
		return true
	}
	for _, child := range childrenOf(pid) {
		if familyWorks(child) {
			return true
		}
	}
	return false
}

// family returns the program and the processes that it has started. They are in its mount
// namespace; if that is csisim's own, they are those that the program has not left.
func (p *Process) family() (pids []int) {
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

// descendants returns a process, its children, and theirs.
func descendants(pid int) []int {
	pids := []int{pid}
	for _, child := range childrenOf(pid) {
		pids = append(pids, descendants(child)...)
	}
	return pids
}

// childrenOf returns the children of a process; none where the kernel does not list them.
func childrenOf(pid int) (children []int) {
	for _, thread := range threadsOf(pid) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, thread))
		for _, word := range bytes.Fields(text) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// threadsOf returns the numbers of the threads of a process; none of one that has ended.
func threadsOf(pid int) (threads []string) {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, e := range entries {
		threads = append(threads, e.Name())
	}
	return threads
}

// works reports whether a thread of a process computes, or waits for a processor or a disk.
func works(pid int) bool {
	for _, thread := range threadsOf(pid) {
		id, _ := strconv.Atoi(thread) // the kernel wrote it
		if stat, err := workdir.StatOf(id); err == nil && (stat.State == 'R' || stat.State == 'D') {
			return true
		}
	}
	return false
}

// processorTime returns how much processor time the program and the processes that it has started
// have used.
func (p *Process) processorTime() (used time.Duration) {
	for _, pid := range p.family() {
		if stat, err := workdir.StatOf(pid); err == nil {
			used += time.Duration(stat.Used) * clockTick
		}
	}
	return used
}

// clockTick is the unit in which the kernel counts processor time. It is the same on all systems
// that Go runs on.
const clockTick = 10 * time.Millisecond
