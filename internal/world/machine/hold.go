package machine

// Hold stops a program between two changes of files.
type Hold struct {
	// Reached is closed when the program, or one of its children, is about to exceed the permitted
	// number of changes. After that it is stopped.
	Reached <-chan struct{}

	reached chan struct{}
	left    int // the number of changes that it may still make
	id      uint64
	of      *Process
}

// HoldAfter stops the program after it and its children have made a number of further changes to
// files. Creating, truncating, filling, renaming and removing a file are changes, as are mounting
// and unmounting. It returns nil if such changes cannot be observed. A new hold replaces the
// previous hold.
func (p *Process) HoldAfter(changes int) *Hold {
	if p.changes == nil {
		return nil
	}
	h := &Hold{reached: make(chan struct{}), left: changes, of: p}
	h.Reached = h.reached
	p.changes.arm(h)
	return h
}

// IsWatched reports whether the program's changes of files are observed.
func (p *Process) IsWatched() bool { return p.changes != nil }

// Release resumes the program, or ends a hold that was not reached. It may be called more than
// once.
func (h *Hold) Release() { h.of.changes.release(h) }

// RefuseUnmount makes the next unmount of the program, or of one of its children, fail with EBUSY,
// as if the mount were in use. A lazy unmount does not fail. end ends the refusal. It returns
// whether an unmount was refused, and the target of a lazy one. RefuseUnmount returns nil if
// unmounts cannot be observed.
func (p *Process) RefuseUnmount() (end func() (refused bool, lazily string)) {
	if p.changes == nil {
		return nil
	}
	return p.changes.refuseUnmount()
}

// ShowsChanges reports whether this system permits csisim to observe, hold and refuse a program's
// changes to files.
func ShowsChanges() bool {
	shown := false
	t, err := startThread(func() error {
		shown = follow(nil, nil, nil, false) != nil
		return nil
	})
	if err != nil {
		return false
	}
	t.stop()
	return shown
}
