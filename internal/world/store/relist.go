package store

import (
	"cmp"
	"slices"
)

// Relist models a watch that was interrupted for so long that the objects must be listed again. The
// view moves to the head, and its watches receive the differences between the old state and the new
// one. They miss the states in between: an object that was deleted and created again is Modified,
// an object that was created and deleted never appears, and only the last known state of a deleted
// object is available.
func (v *View) Relist() {
	missed := v.pending
	v.pending = nil
	for _, c := range differences(missed, v.store.head.revision) {
		v.offer(c)
	}
}

// differences returns the differences between the state before some commits and a list at a
// revision. Like client-go's informers, it returns existing objects in the order of their keys,
// then deleted objects.
func differences(missed []*moment, revision uint64) []*commit {
	type object struct {
		resource *Resource
		key      Key
	}
	known := map[object]*commit{}
	var all []*commit
	for _, c := range missed {
		id := object{c.Resource, c.Key}
		if known[id] == nil {
			known[id] = &commit{Commit: c.Commit, relisted: true}
			known[id].Revision = revision
			all = append(all, known[id])
		}
		known[id].New = c.New
	}
	all = slices.DeleteFunc(all, func(c *commit) bool { return c.Old == nil && c.New == nil })
	slices.SortStableFunc(all, func(a, b *commit) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), a.Key.compare(b.Key))
	})
	return all
}

// rank sorts deleted objects last.
func (c *commit) rank() int {
	if c.New == nil {
		return 1
	}
	return 0
}

// Hold hides all objects of type T from the view until Sync, like an informer before its first
// list. A view can hide one resource.
func Hold[T Object](v *View) { v.held = resourceFor[T]() }

// Synced reports whether nothing is hidden.
func (v *View) Synced() bool { return v.held == nil }

// Sync shows the objects that Hold has hidden. Watches receive them as their initial list.
func (v *View) Sync() {
	res := v.held
	v.held = nil
	for _, w := range v.watches {
		if w.res != res {
			continue
		}
		if w.list(); w.Len() > 0 && w.onEvent != nil {
			w.onEvent()
		}
	}
}
