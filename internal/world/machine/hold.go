package machine

// Hold stops a program between two of the changes that it makes to files.
type Hold struct {
	// Reached is closed when the program, or one that it has started, is about to make the
	// change after the last one that it may make. It stands still then.
	Reached <-chan struct{}

	reached chan struct{}
	left    int // how many changes it may make before
	id      uint64
	of      *Process
}

// HoldAfter stops the program once it, and all that it starts, has made so many changes to
// files from now on: made, emptied, filled, renamed or removed a file, mounted or unmounted.
// It is nil where such changes cannot be seen. Of several holds the latest counts.
func (p *Process) HoldAfter(changes int) *Hold {
	if p.changes == nil {
		return nil
	}
	h := &Hold{reached: make(chan struct{}), left: changes, of: p}
	h.Reached = h.reached
	p.changes.arm(h)
	return h
}

// IsWatched reports whether the changes of files that the program makes are seen.
func (p *Process) IsWatched() bool { return p.changes != nil }

// Release lets the program go on, or ends a hold that was not reached. It may be called more
// than once.
func (h *Hold) Release() { h.of.changes.release(h) }

// RefuseUnmount makes the next attempt to unmount something, of the program or of one that it
// has started, fail with EBUSY, as if somebody used the mount. The function that it returns
// ends this, and reports whether there was such an attempt, and what was unmounted lazily meanwhile, which does not fail; it is nil where
// they cannot be seen.
func (p *Process) RefuseUnmount() (end func() (refused bool, lazily string)) {
	if p.changes == nil {
		return nil
	}
	return p.changes.refuseUnmount()
}

// ShowsChanges reports whether this system shows what programs change: whether they can be
// held, and their unmounting refused.
func ShowsChanges() bool {
	shown := false
	t, err := startThread(func() error {
		shown = follow(nil, nil, false) != nil
		return nil
	})
	if err != nil {
		return false
	}
	t.stop()
	return shown
}
