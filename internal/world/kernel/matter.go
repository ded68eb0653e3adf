package kernel

import (
	"slices"
	"time"
)

// Matter is the subject of a call. Calls with conflicting matters are never concurrent: real
// threads would decide their order. The zero value conflicts with none.
type Matter struct {
	// Of is the called program; empty for a call that waits for no other call.
	Of string
	// Parts are the things in that program that the call reads or changes; empty means all.
	Parts []string
	// Spent returns the part of the patience that is used up by the wall time since the last call
	// of Spent. It is called repeatedly while the call is in progress. Default: all of that time.
	Spent func(passed time.Duration) time.Duration
	// Held reports whether the called program is stopped on purpose, so that the call may wait for
	// it.
	Held func() bool
	// Latency is added, at the pace Measured, to the virtual time that the call takes. Default: 0.
	Latency time.Duration
}

func (m Matter) held() bool { return m.Held != nil && m.Held() }

func (m Matter) conflicts(other Matter) bool {
	if m.Of == "" || m.Of != other.Of {
		return false
	}
	return len(m.Parts) == 0 || len(other.Parts) == 0 ||
		slices.ContainsFunc(m.Parts, func(part string) bool { return slices.Contains(other.Parts, part) })
}
