package store

import (
	"iter"
)

// View is what one component knows of the cluster: its informer cache. It shows
// the head, or with SetLag an older revision, and never moves backwards.
type View struct {
	store   *Store
	name    string
	watches []opened
	few     [4]opened // what watches begin with, as most components have few
	lag     func()
	pending []*moment
	room    []*moment // in which pending began, to begin there again
	held    *Resource // what is not listed yet, nil if all is
}

// opened is a watch beside its resource: most watches have nothing to do with most commits.
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

// Name is the component's name.
func (v *View) Name() string { return v.name }

// Revision is the revision that the view reads.
func (v *View) Revision() uint64 {
	if len(v.pending) > 0 {
		return v.pending[0].before()
	}
	return v.store.head.revision
}

// state is the one before the first commit that the view has yet to see.
func (v *View) state() Reader {
	if len(v.pending) > 0 {
		return v.pending[0]
	}
	return v.store.head
}

// GetObject is Get for callers that know the resource only at run time.
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

// nothing is the list of what is held back.
func nothing(func(Object) bool) {}

// SetLag makes the view lag: commits that match one of its watches queue up
// until Deliver hands them out, and queued is called when the first of them
// does. queued must not write to the store. With nil, the default, the view
// keeps up with the head; what is pending is delivered at once.
func (v *View) SetLag(queued func()) {
	v.lag = queued
	if queued == nil {
		v.Deliver(len(v.pending))
		return
	}
	v.store.versioned = true
}

// Pending is the number of commits that wait for delivery.
func (v *View) Pending() int {
	v.touchNews()
	return len(v.pending)
}

// PendingRevisions are those of the next n commits that wait for delivery, oldest first.
func (v *View) PendingRevisions(n int) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, m := range v.pending[:min(n, len(v.pending))] {
			if !yield(m.commit.Revision) {
				return
			}
		}
	}
}

// Deliver hands the next n pending commits to the watches, oldest first, and
// moves the view forward. When none is left the view reads the head.
func (v *View) Deliver(n int) {
	for range min(n, len(v.pending)) {
		c := v.pending[0].commit
		v.pending[0] = nil
		v.pending = v.pending[1:]
		v.offer(c)
	}
	if len(v.pending) == 0 && cap(v.room) <= maxKept {
		clear(v.room[:cap(v.room)]) // if it grew, they are still there
		v.pending = v.room
	}
}

// offer hands a commit to the watches of its resource.
func (v *View) offer(c *commit) {
	for _, w := range v.watches {
		if w.res == c.Resource {
			w.offer(c)
		}
	}
}

// Close models the end of the component: the watches are closed and nothing is
// queued any more.
func (v *View) Close() {
	for _, w := range v.watches {
		w.leave()
	}
	v.watches, v.pending, v.held = nil, nil, nil
}

// receive takes a commit that matches one of the view's watches.
func (v *View) receive(c *commit, w *watch) {
	v.touchNews()
	if v.lag == nil {
		w.offer(c)
		return
	}
	if c.Resource == v.held { // the list will show it
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

// catchUp queues what a new watch of a lagging view has yet to see: its initial
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
