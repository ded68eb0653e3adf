package machine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// peakMemory is the most memory that a process has had at once, in bytes; 0 if it has ended. What the kernel says of a child that has
// ended would count what its parent had when it forked.
func peakMemory(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if amount, is := bytes.CutPrefix(line, []byte("VmHWM:")); is {
			kilobytes, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(amount), []byte(" kB"))), 10, 64) // the kernel wrote it
			return kilobytes << 10
		}
	}
	return 0
}
