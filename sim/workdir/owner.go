package workdir

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// owner tells which process a run's directory belonged to, as its lock file says.
type owner struct {
	pid     int
	started uint64 // clock ticks since boot; 0 if not known
}

func writeOwner(lock *os.File) error {
	started, err := startTime(os.Getpid())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(lock, "%d %d\n", os.Getpid(), started)
	return err
}

// readOwner returns the zero owner where the run died before it wrote anything.
func readOwner(lock *os.File) owner {
	text := make([]byte, 64)
	n, _ := lock.ReadAt(text, 0)
	var o owner
	if _, err := fmt.Sscanf(string(text[:n]), "%d %d", &o.pid, &o.started); err != nil {
		return owner{}
	}
	return o
}

// startTime is when a process started, in clock ticks since boot.
func startTime(pid int) (uint64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The second field, the name in parentheses, may contain spaces; the start
	// time is field 22.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields after the name, want at least 20", pid, len(fields))
	}
	return strconv.ParseUint(string(fields[19]), 10, 64)
}
