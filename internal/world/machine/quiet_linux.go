package machine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Quiet reports whether the program and all that it has started wait for something, or have ended: none of their threads computes, or
// waits for a disk. Who is in a program's mount namespace was started by it.
func (p *Process) Quiet() bool {
	namespace, err := namespaceOf(p.pid)
	if err != nil {
		return true
	}
	if own, err := namespaceOf(os.Getpid()); err == nil && own == namespace {
		return sleeps(p.pid) // nobody knows what it has started
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return true
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if its, err := namespaceOf(pid); err == nil && its == namespace && !sleeps(pid) {
			return false
		}
	}
	return true
}

// sleeps reports whether all threads of a process do, as those do that have ended.
func sleeps(pid int) bool {
	tasks := fmt.Sprintf("/proc/%d/task", pid)
	threads, _ := os.ReadDir(tasks)
	for _, thread := range threads {
		stat, err := os.ReadFile(tasks + "/" + thread.Name() + "/stat")
		if err != nil {
			continue
		}
		state := bytes.TrimLeft(stat[bytes.LastIndexByte(stat, ')')+1:], " ")
		if bytes.ContainsAny(state[:1], "RD") {
			return false
		}
	}
	return true
}
