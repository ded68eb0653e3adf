package load

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ticks is the number of clock ticks that /proc counts per second, on all architectures of Linux.
const ticks = 100

// Used measures a program with its child processes, by their ids on this machine. It is zero if the
// program has ended.
func Used(plugin string, pids []int) Use {
	u := Use{Plugin: plugin, Children: max(0, int64(len(pids)-1))}
	for _, pid := range pids {
		u.add(pid)
	}
	if len(pids) > 0 { // they share their mounts
		u.Mounts = int64(bytes.Count(read(pids[0], "mountinfo"), []byte("\n")))
	}
	return u
}

func (u *Use) add(pid int) {
	status := read(pid, "status")
	u.Memory += field(status, "VmRSS:") << 10
	u.Threads += field(status, "Threads:")
	if entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)); err == nil {
		u.Descriptors += int64(len(entries))
	}
	u.schedule(pid)
	// The name of the program may contain spaces and parentheses.
	_, rest, _ := bytes.Cut(read(pid, "stat"), []byte(") "))
	if fields := bytes.Fields(rest); len(fields) > 14 {
		// utime and stime, then those of reaped children
		for _, at := range []int{11, 12, 13, 14} {
			n, _ := strconv.ParseInt(string(fields[at]), 10, 64)
			u.CPU += n * 1e6 / ticks
		}
	}
}

// schedule adds how long the threads of a process ran, and waited for a processor.
func (u *Use) schedule(pid int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, name := range threads {
		text, _ := os.ReadFile(name) // an ended thread has none
		fields := bytes.Fields(text)
		if len(fields) < 2 {
			continue
		}
		ran, _ := strconv.ParseInt(string(fields[0]), 10, 64)
		delayed, _ := strconv.ParseInt(string(fields[1]), 10, 64)
		u.Ran, u.Delayed = u.Ran+ran/1e3, u.Delayed+delayed/1e3
	}
}

func read(pid int, name string) []byte {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name)) // empty after its end
	return text
}

// field returns the number of a line of /proc/PID/status.
func field(status []byte, name string) int64 {
	_, rest, _ := bytes.Cut(status, []byte("\n"+name))
	if fields := bytes.Fields(rest); len(fields) > 0 {
		n, _ := strconv.ParseInt(string(fields[0]), 10, 64)
		return n
	}
	return 0
}

// ThisMachine describes this machine.
func ThisMachine() Machine {
	m := thisMachine()
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			m.Processor = strings.TrimSpace(value)
			break
		}
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + strings.TrimSpace(string(release))
	}
	return m
}
