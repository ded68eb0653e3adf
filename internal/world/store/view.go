package store

import (
	"iter"
)

// View is the informer cache of one component. It shows the head, or with SetLag an older revision,
// and never moves backwards.
type View struct {
	store   *Store
	name    string
	watches []opened
	few     [4]opened // the first watches, because most components have few
	lag     func()
	pending []*moment
	room    []*moment // the original memory of pending, for reuse
	held    *Resource // the resource that is not listed yet, nil if all are
}

// opened is a watch with its resource, since most watches do not match most commits.
type opened struct {
	res *Resource
	*watch
}

// NewView returns a view of the head for the named component.
func (s *Store) NewView(name string) *View {
	v := &View{store: s, name: name}
	v.watches = v.few[:0]
	return v
}

// Name returns the component's name.
func (v *View) Name() string { return v.name }

// Revision returns the revision that the view shows.
func (v *View) Revision() uint64 {
	if len(v.pending) > 0 {
		return v.pending[0].before()
	}
	return v.store.head.revision
}

// state returns the state before the first commit that the view has not reached yet.
func (v *View) state() Reader {
	if len(v.pending) > 0 {
		return v.pending[0]
	}
	return v.store.head
}

// GetObject is Get for resources that are known only at run time.
func (v *View) GetObject(res *Resource, key Key) (Object, bool) {
	if res == v.held {
		return nil, false
	}
	return v.state().GetObject(res, key)
}

// ListObjects is List for callers that know the resource only at run time.
func (v *View) ListObjects(res *Resource, namespace string) iter.Seq[Object] {
	if res == v.held {
		return nothing
	}
	return v.state().ListObjects(res, namespace)
}

// IndexedObjects is Indexed for callers that know the resource only at run time.
func (v *View) IndexedObjects(res *Resource, index Index, value string) iter.Seq[Object] {
	if res == v.held {
		return nothing
	}
	return v.state().IndexedObjects(res, index, value)
}

// nothing returns the empty list of a hidden resource.
func nothing(func(Object) bool) {}

// SetLag makes the view lag. Commits that match one of its watches are queued until Deliver, and
// queued is called for the first of them. queued must not write to the store. With nil, the
// default, the view follows the head, and pending commits are delivered immediately.
func (v *View) SetLag(queued func()) {
	v.lag = queued
	if queued == nil {
		v.Deliver(len(v.pending))
		return
	}
	v.store.versioned = true
}

// Pending returns the number of commits that wait for delivery.
func (v *View) Pending() int {
	v.touchNews()
	return len(v.pending)
}

// PendingRevisions returns the revisions of the next n pending commits, oldest first.
func (v *View) PendingRevisions(n int) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, m := range v.pending[:min(n, len(v.pending))] {
			if !yield(m.commit.Revision) {
				return
			}
		}
	}
}

// Deliver delivers the next n pending commits to the watches, oldest first, and moves the view
// forward. When none is left, the view shows the head.
func (v *View) Deliver(n int) {
	for range min(n, len(v.pending)) {
		c := v.pending[0].commit
		v.pending[0] = nil
		v.pending = v.pending[1:]
		v.offer(c)
	}
	if len(v.pending) == 0 && cap(v.room) <= maxKept {
		clear(v.room[:cap(v.room)]) // if it grew, they are still in the old memory
		v.pending = v.room
	}
}

// offer delivers a commit to the watches of its resource.
func (v *View) offer(c *commit) {
	for _, w := range v.watches {
		if w.res == c.Resource {
			w.offer(c)
		}
	}
}

// Close models the end of the component. It closes the watches, and no further commits are queued.
func (v *View) Close() {
	for _, w := range v.watches {
		w.leave()
	}
	v.watches, v.pending, v.held = nil, nil, nil
}

// receive queues or delivers a commit that matches one of the view's watches.
func (v *View) receive(c *commit, w *watch) {
	v.touchNews()
	if v.lag == nil {
		w.offer(c)
		return
	}
	if c.Resource == v.held { // the later list will contain it
		return
	}
	if len(v.pending) > 0 && v.pending[len(v.pending)-1].commit == c {
		return
	}
	if cap(v.pending) == 0 {
		v.pending = make([]*moment, 0, 8)
	}
	v.pending = append(v.pending, v.store.moment)
	if len(v.pending) == 1 {
		v.room = v.pending[:0]
		v.lag()
	}
}

// catchUp queues the pending commits for a new watch of a lagging view, because the watch's initial
// list is as old as the view.
func (v *View) catchUp(w *watch) {
	if len(v.pending) == 0 {
		return
	}
	known := v.pending
	v.pending = nil
	for m := known[0]; m != nil; m = m.next {
		isKnown := len(known) > 0 && known[0] == m
		if isKnown {
			known = known[1:]
		}
		if isKnown || w.matches(m.commit) {
			v.pending = append(v.pending, m)
		}
	}
}
