package store

import (
	"iter"
	"slices"
)

// EventType is the kind of an object's change in a watch.
type EventType string

// As in the API server's watches, an object that enters a watch's selection is Added, and an object
// that leaves it is Deleted.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
)

// Event is one change of one object.
type Event[T Object] struct {
	Type EventType
	// Object is the new state. For a Deleted object, it is the last selected state, with the
	// resource version of the deletion.
	Object T
	// Old is the state before, nil for an Added object.
	Old T
	// Revision is the revision of the commit or, in a list, of the view.
	Revision uint64
	// FinalStateUnknown means that a deletion was missed and a later list did not contain the
	// object: client-go's DeletedFinalStateUnknown, a tombstone. Object is then the last state that
	// the watch received.
	FinalStateUnknown bool
}

// Replaced reports whether the object was deleted and recreated with the same name while the watch
// missed both.
func (e Event[T]) Replaced() bool { return e.Type == Modified && e.Old.GetUID() != e.Object.GetUID() }

// Selector narrows a watch to a part of a resource.
type Selector struct {
	index Index
	value string
	key   Key
}

// everything is the selector of most watches.
var everything = &Selector{}

// ByIndex selects the objects with a value in the index.
func ByIndex(index Index, value string) Selector { return Selector{index: index, value: value} }

// byKey is the index of the objects' own names.
const byKey Index = "by key"

// ByKey selects the object with a key.
func ByKey(key Key) Selector { return Selector{index: byKey, key: key} }

// Watcher is the queue of events of one watch.
type Watcher[T Object] struct{ watch }

// Watch opens a watch on a whole resource, or on the part of one selector. Its queue begins with an
// Added event for each object in the view, in the order of their keys, like the initial list of an
// informer.
func Watch[T Object](v *View, sel ...Selector) *Watcher[T] {
	w := &Watcher[T]{}
	Open(v, w, sel...)
	return w
}

// Open is Watch in a Watcher that the caller has allocated.
func Open[T Object](v *View, w *Watcher[T], sel ...Selector) { w.open(v, resourceFor[T](), sel) }

// Next removes the oldest event from the queue.
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

// watch is a Watcher with a type that is known only at run time.
type watch struct {
	view    *View
	res     *Resource
	sel     *Selector
	initial *initialList // nil when it was consumed
	queue   []*commit    // consumed entries are nil
	taken   int
	onEvent func()
}

// initialList is the remaining part of the initial list in the queue, and the list's revision.
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

// list queues the objects in the view.
func (w *watch) list() {
	if !w.view.mayHave(w.res) {
		return
	}
	if found := slices.Collect(w.view.selected(w.res, *w.sel)); len(found) > 0 {
		w.initial = &initialList{found, w.view.Revision()}
	}
}

// mayHave returns false for a resource without objects. This is common when the components of a
// cluster open their watches.
func (v *View) mayHave(res *Resource) bool {
	return len(v.pending) > 0 || v.store.head.count(res) > 0
}

// selected lists the objects of a selector.
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

// OnEvent sets a function that is called for every queued event. It must not write to the store.
func (w *watch) OnEvent(queued func()) { w.onEvent = queued }

// Len returns the number of queued events.
func (w *watch) Len() int {
	queued := len(w.queue) - w.taken
	if w.initial != nil {
		queued += len(w.initial.objects)
	}
	return queued
}

// Bookmark returns the revision up to which Next has returned all commits; 0 until it has returned
// the initial list.
func (w *watch) Bookmark() uint64 {
	if w.initial != nil {
		return 0
	}
	if w.Len() > 0 {
		return w.queue[w.taken].Revision - 1
	}
	return w.view.Revision()
}

// Drop empties the queue. Otherwise, a queue without a reader would retain every state of its
// objects in memory.
func (w *watch) Drop() { w.initial, w.queue, w.taken = nil, nil, 0 }

// Close ends the watch and empties its queue.
func (w *watch) Close() { w.close() }

func (w *watch) close() {
	w.leave()
	w.view.watches = slices.DeleteFunc(slices.Clone(w.view.watches), func(o opened) bool { return o.watch == w })
}

// leave ends the watch, but keeps its place in its view.
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

// maxKept is the capacity up to which an empty queue keeps its memory.
const maxKept = 1024

// rewind makes an empty queue reuse its memory from the start, because most queues briefly hold a
// few events, very often.
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

// offer queues a commit if it matches the watch.
func (w *watch) offer(c *commit) {
	if !w.matches(c) {
		return
	}
	if len(w.queue) == cap(w.queue) { // doubling wastes less than append does
		w.queue = slices.Grow(w.queue, max(len(w.queue), 8))
	}
	w.queue = append(w.queue, c)
	if w.onEvent != nil {
		w.onEvent()
	}
}

// eventOf returns the watch's event for a commit that matches it.
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

// without returns a new slice, so that loops over the old one are not affected.
func without(watches []*watch, gone *watch) []*watch {
	var rest []*watch
	for _, w := range watches {
		if w != gone {
			rest = append(rest, w)
		}
	}
	return rest
}
