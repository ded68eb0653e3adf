package machine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// peakMemory returns the highest memory usage of a process, in bytes; 0 if it has ended. The
// kernel's resource usage of an ended child cannot replace it, because it includes the parent's
// memory at the fork.
func peakMemory(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if amount, is := bytes.CutPrefix(line, []byte("VmHWM:")); is {
			// The kernel wrote it, so it is valid.
			kilobytes, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(amount), []byte(" kB"))), 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}
