package kernel

import (
	"slices"
	"time"
)

// Matter is what a call is about. Calls about one matter are not under way at once:
// which of them comes first would be up to real threads. The zero value is about nothing.
type Matter struct {
	// Of is who is called; empty for a call that does not wait for others.
	Of string
	// Parts are the things of that one that the call reads or changes; all, if there are none.
	Parts []string
	// Spent returns how much of the patience is spent by the wall time that has passed since it was
	// called last. It is called now and then while the call is under way. Default: all of it.
	Spent func(passed time.Duration) time.Duration
}

func (m Matter) conflicts(other Matter) bool {
	if m.Of == "" || m.Of != other.Of {
		return false
	}
	return len(m.Parts) == 0 || len(other.Parts) == 0 ||
		slices.ContainsFunc(m.Parts, func(part string) bool { return slices.Contains(other.Parts, part) })
}
