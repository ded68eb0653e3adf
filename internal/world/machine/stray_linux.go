package machine

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"

	"github.com/csisim/csisim/internal/world/workdir"
)

// Strays lists the processes that the machine's programs have started. This is every process in a
// program's mount namespace, even if it tries to hide. Without namespaces it lists none.
func (d *Disk) Strays() ([]Stray, error) {
	if d.own == nil || !d.mayHaveStrays() {
		return nil, nil
	}
	programs := map[string]int{} // by mount namespace
	for _, p := range d.running() {
		if namespace, err := namespaceOf(p.pid); err == nil { // otherwise it has just ended
			programs[namespace] = p.pid
		}
	}
	if len(programs) == 0 {
		return nil, nil
	}
	all, err := processes()
	if err != nil {
		return nil, fmt.Errorf("look for processes of node %s: %w", d.name, err)
	}
	var strays []Stray
	for pid, namespace := range all {
		if program, is := programs[namespace]; is && program != pid {
			strays = append(strays, Stray{PID: pid, Parent: parentOf(pid), Command: commandOf(pid)})
		}
	}
	return strays, nil
}

// processes returns the numbers of the running processes, with their mount namespaces.
func processes() (iter.Seq2[int, string], error) {
	entries, err := os.ReadDir("/proc")
	return func(yield func(pid int, namespace string) bool) {
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil {
				continue
			}
			if namespace, err := namespaceOf(pid); err == nil && !yield(pid, namespace) {
				return
			}
		}
	}, err
}

// mayHaveStrays reports whether a machine in a namespace may have more processes than programs. If
// it has its own process namespace, counting its processes is cheaper than checking all processes
// of all machines.
func (d *Disk) mayHaveStrays() bool {
	first := d.own.layers.first.Load()
	if first == nil {
		return true
	}
	programs := d.running()
	others, err := first.others()
	return err != nil || others > len(programs) || !slices.Equal(programs, d.running())
}

// namespaceOf returns a process's mount namespace, or an error if the process has ended.
func namespaceOf(pid int) (string, error) { return os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid)) }

// parentOf returns the PID of a process's parent; 0 if it has ended.
func parentOf(pid int) int {
	stat, _ := workdir.StatOf(pid)
	return stat.Parent
}

// commandOf returns a process's command line; empty if it has ended.
func commandOf(pid int) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(bytes.ReplaceAll(bytes.TrimRight(line, "\x00"), []byte{0}, []byte(" ")))
}
