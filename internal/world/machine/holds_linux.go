package machine

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// Holds returns the paths of the program's open files, except sockets, and the commands of its
// zombie children. Both are empty if the program has ended.
func (p *Process) Holds() (files, unreaped []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return nil, nil
	}
	return filesOpenIn(p.pid), deadChildren(p.pid)
}

func filesOpenIn(pid int) (paths []string) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, _ := os.ReadDir(dir) // it may already have exited
	for _, e := range entries {
		path, err := os.Readlink(dir + "/" + e.Name())
		if err == nil && !strings.HasPrefix(path, "socket:") { // callers open and close these
			paths = append(paths, path)
		}
	}
	return paths
}

// deadChildren lists the zombie children of all threads, because the kernel lists a child with the
// thread that started it.
func deadChildren(pid int) (commands []string) {
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, thread := range threads {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, thread.Name()))
		for _, child := range strings.Fields(string(children)) {
			stat, err := os.ReadFile("/proc/" + child + "/stat")
			if err != nil {
				continue
			}
			name, rest, _ := bytes.Cut(stat[bytes.IndexByte(stat, '(')+1:], []byte(") "))
			if bytes.HasPrefix(rest, []byte("Z ")) {
				commands = append(commands, string(name))
			}
		}
	}
	return commands
}
