package contract

import (
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"
)

// CheckOverlap compares the mounts at the paths of a call, one per line, before and after the
// driver received the call twice at once. A restarted caller may send it twice, and the effect must
// equal the effect of one call (CSI "Concurrency"). An earlier call may have made mounts twice.
func CheckOverlap(method string, before, mounts []string) []verdict.Verdict {
	if !strings.HasPrefix(method, "Node/") {
		return nil
	}
	known, seen := counted(before), map[string]int{}
	for _, m := range mounts {
		if seen[m]++; seen[m] > max(1, known[m]) {
			return broken(method, TwiceWhenOverlapping, "%d mounts %s", seen[m], verdict.Quoted(m))
		}
	}
	return nil
}

func counted(lines []string) map[string]int {
	n := map[string]int{}
	for _, line := range lines {
		n[line]++
	}
	return n
}
