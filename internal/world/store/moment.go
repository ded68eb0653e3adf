package store

import (
	"iter"
	"slices"
)

// moment is the place of a commit in history, made while views may lag. Only views that have yet to reach it hold on to
// it, and thereby to all later ones.
//
// It is read as the state before its commit: what a later commit replaced was there, and the rest is as a state that is
// kept has it, or the head. Most views catch up before they read, so few states are worth keeping.
type moment struct {
	*commit
	head *head
	kept *Snapshot // of the state before the commit; nil at most moments
	next *moment
}

// momentsBetween is how many moments come between those that keep their state: so far a reader goes at most.
const momentsBetween = 128

// happen adds the moment of a commit that the head does not have yet.
func (s *Store) happen(c *commit) {
	now := &moment{commit: c, head: s.head}
	if s.sinceKept++; s.sinceKept >= momentsBetween {
		now.kept, s.sinceKept = s.Snapshot(), 0
	}
	s.moment.next, s.moment = now, now
}

// before is the revision of the state that the moment is read as.
func (m *moment) before() uint64 { return m.Revision - 1 }

// GetObject is Get for callers that know the resource only at run time.
func (m *moment) GetObject(res *Resource, key Key) (Object, bool) {
	for ; m.kept == nil; m = m.next {
		if m.Resource == res && m.Key == key {
			return m.Old, m.Old != nil
		}
		if m.next == nil {
			return m.head.GetObject(res, key)
		}
	}
	return m.kept.GetObject(res, key)
}

// ListObjects is List for callers that know the resource only at run time.
func (m *moment) ListObjects(res *Resource, namespace string) iter.Seq[Object] {
	later, replaced := m.replaced(res)
	return merged(later.ListObjects(res, namespace), replaced, func(old Object) bool {
		return namespace == "" || old.GetNamespace() == namespace
	})
}

// IndexedObjects is Indexed for callers that know the resource only at run time.
func (m *moment) IndexedObjects(res *Resource, index Index, value string) iter.Seq[Object] {
	later, replaced := m.replaced(res)
	return merged(later.IndexedObjects(res, index, value), replaced, func(old Object) bool {
		return slices.Contains(res.indexNamed(index).of(old), value)
	})
}

// replaced is a later state, and the first commits until then of the objects that were written.
func (m *moment) replaced(res *Resource) (later Reader, first []*commit) {
	for ; m.kept == nil; m = m.next {
		if m.Resource == res && !slices.ContainsFunc(first, func(c *commit) bool { return c.Key == m.Key }) {
			first = append(first, m.commit)
		}
		if m.next == nil {
			return m.head, first
		}
	}
	return m.kept, first
}

// merged is what is listed in a later state, with the objects that were replaced, as far as they belong to the list.
func merged(later iter.Seq[Object], replaced []*commit, belongs func(old Object) bool) iter.Seq[Object] {
	if len(replaced) == 0 {
		return later
	}
	var all []Object
	for obj := range later {
		key := KeyOf(obj)
		if !slices.ContainsFunc(replaced, func(c *commit) bool { return c.Key == key }) {
			all = append(all, obj)
		}
	}
	for _, c := range replaced {
		if c.Old != nil && belongs(c.Old) {
			all = append(all, c.Old)
		}
	}
	slices.SortFunc(all, func(a, b Object) int { return KeyOf(a).compare(KeyOf(b)) })
	return slices.Values(all)
}
