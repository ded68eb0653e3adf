package main

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
)

// machineMemory returns the memory that this process may use: the machine's memory, or the lowest
// limit of its control groups. 0: unknown.
func machineMemory() int64 { return memoryIn(os.DirFS("/")) }

func memoryIn(root fs.FS) int64 {
	limit := min(totalMemory(root), groupsV1.memory(root), groupsV2.memory(root))
	if limit == math.MaxInt64 {
		return 0
	}
	return limit
}

// totalMemory returns the machine's memory, or the largest number if the kernel does not report it.
func totalMemory(root fs.FS) int64 {
	for line := range linesOf(root, "proc/meminfo") {
		var kilobytes int64
		if _, err := fmt.Sscanf(line, "MemTotal: %d kB", &kilobytes); err == nil {
			return kilobytes << 10
		}
	}
	return math.MaxInt64
}

// linesOf returns the lines of a file; none if it cannot be read.
func linesOf(root fs.FS, file string) func(func(string) bool) {
	text, _ := fs.ReadFile(root, file)
	return strings.SplitSeq(strings.TrimSpace(string(text)), "\n")
}
