package contract

import (
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"
)

// CheckOverlap holds the mounts at the paths of a call, a line each, that came twice at once
// against the CSI spec: a caller that lost its memory may do so, and the effect is that of one
// call (CSI "Concurrency").
func CheckOverlap(method string, mounts []string) []verdict.Verdict {
	if !strings.HasPrefix(method, "Node/") {
		return nil
	}
	seen := map[string]bool{}
	for _, m := range mounts {
		if seen[m] {
			return broken(method, TwiceWhenOverlapping, "%d mounts %s", 2, verdict.Quoted(m))
		}
		seen[m] = true
	}
	return nil
}
