package store

import (
	"cmp"
	"slices"
)

// Relist models a watch that broke down for so long that it cannot go on where it
// stood: the objects are listed anew. The view moves to the head, and its watches get
// what differs between the old state and the new one: states in between are missed, an
// object that was deleted and made again is Modified, one that was made and deleted
// never was, and of one that is gone only what was known of it before can be said.
func (v *View) Relist() {
	missed := v.pending
	v.pending = nil
	for _, c := range differences(missed, v.store.head.revision) {
		v.offer(c)
	}
}

// differences is what a list at a revision shows of the commits before it, as client-go's
// informers hand it on: what is there in the order of the keys, then what is gone.
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

// rank puts what is gone last.
func (c *commit) rank() int {
	if c.New == nil {
		return 1
	}
	return 0
}

// Hold makes the view show no objects of type T until Sync, as an informer whose
// first list has not come back. A view holds one resource back at most.
func Hold[T Object](v *View) { v.held = resourceFor[T]() }

// Synced reports whether nothing is held back.
func (v *View) Synced() bool { return v.held == nil }

// Sync shows what Hold held back; watches get it as their initial list.
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
