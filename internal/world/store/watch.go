package store

import (
	"iter"
	"slices"
)

// EventType says how an object changed as seen by a watch.
type EventType string

// An object that enters what a watch selects is Added, one that leaves it is
// Deleted, as in the API server's watches.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
)

// Event is one change of one object.
type Event[T Object] struct {
	Type EventType
	// Object is the new state; of a Deleted object the last state that the watch
	// selected, with the resource version of its end.
	Object T
	// Old is the state before, nil for an Added object.
	Old T
	// Revision is the commit's, or for a list the view's.
	Revision uint64
	// FinalStateUnknown says of a Deleted object that its end was missed and a list
	// did not have it any more: client-go's DeletedFinalStateUnknown, a tombstone.
	// Object is then as the watch last had it, without any later state.
	FinalStateUnknown bool
}

// Replaced reports whether the object was deleted and made again under its name
// while the watch missed both.
func (e Event[T]) Replaced() bool { return e.Type == Modified && e.Old.GetUID() != e.Object.GetUID() }

// Selector narrows a watch to a part of a resource.
type Selector struct {
	index Index
	value string
	key   Key
}

// everything is what most watches select.
var everything = &Selector{}

// ByIndex selects the objects that have the value in the index.
func ByIndex(index Index, value string) Selector { return Selector{index: index, value: value} }

// byKey is the index of the objects' own names.
const byKey Index = "by key"

// ByKey selects the one object of that name.
func ByKey(key Key) Selector { return Selector{index: byKey, key: key} }

// Watcher is the queue of events of one watch.
type Watcher[T Object] struct{ watch }

// Watch opens a watch on a whole resource, or on the part that one selector
// picks. Its queue begins with an Added event for each object that the view
// shows, in the order of their keys: the initial list of an informer.
func Watch[T Object](v *View, sel ...Selector) *Watcher[T] {
	w := &Watcher[T]{}
	Open(v, w, sel...)
	return w
}

// Open is Watch for who has the place for a Watcher.
func Open[T Object](v *View, w *Watcher[T], sel ...Selector) { w.open(v, resourceFor[T](), sel) }

// Next takes the oldest event out of the queue.
func (w *Watcher[T]) Next() (Event[T], bool) {
	raw, ok := w.next()
	if !ok {
		return Event[T]{}, false
	}
	event := Event[T]{Type: raw.Type, Object: raw.Object.(T), Revision: raw.Revision, FinalStateUnknown: raw.FinalStateUnknown}
	if raw.Old != nil {
		event.Old = raw.Old.(T)
	}
	return event, true
}

// watch is a Watcher whose type is known at run time only.
type watch struct {
	view    *View
	res     *Resource
	sel     *Selector
	initial *initialList // nil when all of it was taken
	queue   []*commit    // what was taken out of it is nil
	taken   int
	onEvent func()
}

// initialList is what of it is still queued, and its revision.
type initialList struct {
	objects  []Object
	revision uint64
}

// WatchObjects is Watch for callers that know the resource only at run time.
func (v *View) WatchObjects(res *Resource, sel ...Selector) *Watcher[Object] {
	w := &Watcher[Object]{}
	v.OpenObjects(w, res, sel...)
	return w
}

// OpenObjects is Open for callers that know the resource only at run time.
func (v *View) OpenObjects(w *Watcher[Object], res *Resource, sel ...Selector) { w.open(v, res, sel) }

func (w *watch) open(v *View, res *Resource, sel []Selector) {
	w.view, w.res, w.sel = v, res, everything
	if len(sel) > 1 {
		panic("store: a watch takes one selector")
	}
	if len(sel) == 1 {
		w.sel = &sel[0]
	}
	v.store.head.touchWatches(res)
	w.list()
	v.catchUp(w)
	v.watches = append(v.watches, opened{res, w})
	v.store.subscribers.on(res).add(w)
}

// list queues what the view shows.
func (w *watch) list() {
	if !w.view.mayHave(w.res) {
		return
	}
	if found := slices.Collect(w.view.selected(w.res, *w.sel)); len(found) > 0 {
		w.initial = &initialList{found, w.view.Revision()}
	}
}

// mayHave is false for a resource without objects, as most are when the components
// of a cluster open their watches.
func (v *View) mayHave(res *Resource) bool {
	return len(v.pending) > 0 || v.store.head.count(res) > 0
}

// selected lists what a selector picks.
func (v *View) selected(res *Resource, sel Selector) iter.Seq[Object] {
	switch sel.index {
	case "":
		return v.ListObjects(res, "")
	case byKey:
		return func(yield func(Object) bool) {
			if obj, ok := v.GetObject(res, sel.key); ok {
				yield(obj)
			}
		}
	}
	res.mustHave(sel.index)
	return v.IndexedObjects(res, sel.index, sel.value)
}

// OnEvent sets what is called whenever an event is queued. It must not write to
// the store.
func (w *watch) OnEvent(queued func()) { w.onEvent = queued }

// Len is the number of queued events.
func (w *watch) Len() int {
	queued := len(w.queue) - w.taken
	if w.initial != nil {
		queued += len(w.initial.objects)
	}
	return queued
}

// Bookmark is the revision up to which all commits were taken out by Next, 0
// while the initial list is not.
func (w *watch) Bookmark() uint64 {
	if w.initial != nil {
		return 0
	}
	if w.Len() > 0 {
		return w.queue[w.taken].Revision - 1
	}
	return w.view.Revision()
}

// Drop forgets what is queued. A queue that nobody empties would hold on to every
// state of its objects.
func (w *watch) Drop() { w.initial, w.queue, w.taken = nil, nil, 0 }

// Close ends the watch and drops what is queued.
func (w *watch) Close() { w.close() }

func (w *watch) close() {
	w.leave()
	w.view.watches = slices.DeleteFunc(slices.Clone(w.view.watches), func(o opened) bool { return o.watch == w })
}

// leave ends the watch, but for its place in its view.
func (w *watch) leave() {
	w.view.store.head.touchWatches(w.res)
	w.view.store.subscribers.of(w.res).remove(w)
	w.Drop()
}

func (w *watch) next() (Event[Object], bool) {
	if list := w.initial; list != nil {
		obj := list.objects[0]
		list.objects[0] = nil
		if list.objects = list.objects[1:]; len(list.objects) == 0 {
			w.initial = nil
		}
		return Event[Object]{Type: Added, Object: obj, Revision: list.revision}, true
	}
	if w.Len() == 0 {
		return Event[Object]{}, false
	}
	event := w.eventOf(w.queue[w.taken])
	w.queue[w.taken] = nil
	w.taken++
	if w.Len() == 0 {
		w.rewind()
	}
	return event, true
}

// maxKept is the number of events for which an empty queue keeps its memory.
const maxKept = 1024

// rewind makes an empty queue begin at the beginning again: most queues hold a
// few events for a moment, and that ever so often.
func (w *watch) rewind() {
	w.queue, w.taken = w.queue[:0], 0
	if cap(w.queue) > maxKept {
		w.queue = nil
	}
}

// matches reports whether a commit concerns the watch.
func (w *watch) matches(c *commit) bool {
	return c.Resource == w.res && (w.selects(c.Old) || w.selects(c.New))
}

// offer queues a commit if it concerns the watch.
func (w *watch) offer(c *commit) {
	if !w.matches(c) {
		return
	}
	if len(w.queue) == cap(w.queue) { // doubling leaves less behind than append does
		w.queue = slices.Grow(w.queue, max(len(w.queue), 8))
	}
	w.queue = append(w.queue, c)
	if w.onEvent != nil {
		w.onEvent()
	}
}

// eventOf is what a commit that concerns the watch means for it.
func (w *watch) eventOf(c *commit) Event[Object] {
	switch was, is := w.selects(c.Old), w.selects(c.New); {
	case was && is:
		return Event[Object]{Type: Modified, Object: c.New, Old: c.Old, Revision: c.Revision}
	case is:
		return Event[Object]{Type: Added, Object: c.New, Revision: c.Revision}
	default:
		return Event[Object]{Type: Deleted, Object: c.last(), Old: c.Old, Revision: c.Revision, FinalStateUnknown: c.relisted}
	}
}

func (w *watch) selects(obj Object) bool {
	if obj == nil {
		return false
	}
	switch w.sel.index {
	case "":
		return true
	case byKey:
		return KeyOf(obj) == w.sel.key
	}
	return slices.Contains(w.res.valuesOf(w.sel.index, obj), w.sel.value)
}

// without returns a new slice, so that whoever ranges over the old one goes on
// undisturbed.
func without(watches []*watch, gone *watch) []*watch {
	var rest []*watch
	for _, w := range watches {
		if w != gone {
			rest = append(rest, w)
		}
	}
	return rest
}
