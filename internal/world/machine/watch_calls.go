package machine

import "syscall"

// Interference is what happens to system calls of a program. The zero value only watches.
type Interference struct {
	At Point
	// Fails is the error with which they fail, Times how many do, 0 for all. Without an error the
	// program stands still at the first.
	Fails syscall.Errno
	Times int
	// Broken are mounted file systems that fail. The zero value is none.
	Broken BrokenMounts
}

// BrokenMounts are mounted file systems whose files the program cannot use until it unmounts them.
// A process sees them only if its Command has SeesLookups.
type BrokenMounts struct {
	// Paths are the mount points, as the program sees them.
	Paths []string
	// Fails is the error of each system call about a file there; with EROFS, of those that write.
	Fails syscall.Errno
}

// CallWatch sees the system calls by which a program, and all that it starts, changes files.
type CallWatch struct {
	// Reached is closed when the program stands still at its point.
	Reached <-chan struct{}

	interference Interference
	reached      chan struct{}
	matched      int // calls of the point
	failed       int
	held         uint64 // the call that waits; 0 for none
	seen         []SystemCall
	of           *Process
}

// NewCallWatch returns a watch of a program that has not begun; nil where its system calls cannot
// be seen.
func (p *Process) NewCallWatch(i Interference) *CallWatch {
	if p.changes == nil {
		return nil
	}
	w := &CallWatch{interference: i, reached: make(chan struct{}), of: p}
	w.Reached = w.reached
	return w
}

// Begin begins to watch. Of several watches the latest counts.
func (w *CallWatch) Begin() { w.of.changes.watchBy(w) }

// Seen are the calls so far, in their order, with the one at which the program stands still.
func (w *CallWatch) Seen() []SystemCall { return w.of.changes.seenBy(w) }

// End ends the watch, and lets the program go on. It may be called more than once.
func (w *CallWatch) End() { w.of.changes.endWatch(w) }

// meet decides on one call: whether it is made, fails or waits.
func (w *CallWatch) meet(c SystemCall) outcome {
	i := w.interference
	if !i.At.matches(c) {
		w.seen = append(w.seen, c)
		return made
	}
	w.matched++
	struck := i.At.Nth == 0 || i.At.Nth == w.matched
	switch {
	case !struck, w.held != 0, i.Fails != 0 && i.Times > 0 && w.failed >= i.Times:
		w.seen = append(w.seen, c)
		return made
	case i.Fails == 0:
		c.Held = true
		w.seen = append(w.seen, c)
		return waits
	}
	w.failed++
	c.Failed = true
	w.seen = append(w.seen, c)
	return fails
}

// outcome is what becomes of a system call.
type outcome int

const (
	made outcome = iota
	fails
	waits
)
