package machine

import "syscall"

// Interference selects system calls of a program, and determines whether they fail or stop the
// program. The zero value only observes.
type Interference struct {
	At Point
	// Fails is the error of the calls, and Times their number; 0 means all. Without an error, the
	// program is stopped at the first call.
	Fails syscall.Errno
	Times int
	// Broken are mounted file systems that fail. The zero value is none.
	Broken BrokenMounts
}

// BrokenMounts are mounted file systems with unusable files until the program unmounts them. This
// requires SeesLookups in the process's Command.
type BrokenMounts struct {
	// Paths are the mount points in the program's view.
	Paths []string
	// Fails is the error of each system call about a file there; EROFS affects only calls that
	// write.
	Fails syscall.Errno
}

// CallWatch observes the system calls by which a program and its children change files.
type CallWatch struct {
	// Reached is closed when the program is stopped at its point.
	Reached <-chan struct{}

	interference Interference
	reached      chan struct{}
	matched      int // calls that the point matches
	failed       int
	held         uint64 // the waiting call; 0 for none
	seen         []SystemCall
	of           *Process
}

// NewCallWatch returns a watch of a program that has not started yet; nil if its system calls
// cannot be observed.
func (p *Process) NewCallWatch(i Interference) *CallWatch {
	if p.changes == nil {
		return nil
	}
	w := &CallWatch{interference: i, reached: make(chan struct{}), of: p}
	w.Reached = w.reached
	return w
}

// Begin starts the watch. A new watch replaces the previous watch.
func (w *CallWatch) Begin() { w.of.changes.watchBy(w) }

// Seen returns the calls so far, in order, including the one at which the program is stopped.
func (w *CallWatch) Seen() []SystemCall { return w.of.changes.seenBy(w) }

// End ends the watch, and resumes the program. It may be called more than once.
func (w *CallWatch) End() { w.of.changes.endWatch(w) }

// decide decides whether a call is made, fails or waits.
func (w *CallWatch) decide(c SystemCall) outcome {
	i := w.interference
	if !i.At.matches(c) {
		w.seen = append(w.seen, c)
		return made
	}
	w.matched++
	selected := i.At.Nth == 0 || i.At.Nth == w.matched
	switch {
	case !selected, w.held != 0, i.Fails != 0 && i.Times > 0 && w.failed >= i.Times:
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

// outcome is the result of a system call.
type outcome int

const (
	made outcome = iota
	fails
	waits
)
