package workdir

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Stat is the kernel's status of a process.
type Stat struct {
	State   byte // such as 'Z' for a zombie
	Parent  int
	Started uint64 // in clock ticks since boot
	Used    uint64 // processor time in clock ticks, with that of ended children
}

// StatOf returns the status of a process; an error if it does not exist.
func StatOf(pid int) (s Stat, err error) {
	name := fmt.Sprintf("/proc/%d/stat", pid)
	text, err := os.ReadFile(name)
	if err != nil {
		return s, err
	}
	// The second field, the name in parentheses, may contain spaces; the start
	// time is field 22.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return s, fmt.Errorf("%s has %d fields after the name, want at least 20", name, len(fields))
	}
	s.State = fields[0][0]
	if s.Parent, err = strconv.Atoi(string(fields[1])); err != nil {
		return s, fmt.Errorf("read %s: %w", name, err)
	}
	if s.Started, err = strconv.ParseUint(string(fields[19]), 10, 64); err != nil {
		return s, fmt.Errorf("read %s: %w", name, err)
	}
	for _, field := range fields[11:15] {
		ticks, err := strconv.ParseUint(string(field), 10, 64)
		if err != nil {
			return s, fmt.Errorf("read %s: %w", name, err)
		}
		s.Used += ticks
	}
	return s, nil
}

func startTime(pid int) (uint64, error) {
	s, err := StatOf(pid)
	return s.Started, err
}
