package store

import (
	"iter"
	"slices"
)

// moment is the position of a commit in history, recorded while views may lag. Only views that have
// not reached it yet refer to it, and thereby retain all later moments.
//
// It is read as the state before its commit. This state consists of the objects that later commits
// replaced, and of all other objects from a later kept state or the head. Few states are kept,
// because most views catch up before they are read.
type moment struct {
	*commit
	head *head
	kept *Snapshot // of the state before the commit; nil at most moments
	next *moment
}

// momentsBetween is the number of moments between two kept states. A read has to visit at most that
// many.
const momentsBetween = 128

// happen adds the moment of a commit before the commit is applied to the head.
func (s *Store) happen(c *commit) {
	now := &moment{commit: c, head: s.head}
	if s.sinceKept++; s.sinceKept >= momentsBetween {
		now.kept, s.sinceKept = s.Snapshot(), 0
	}
	s.moment.next, s.moment = now, now
}

// before returns the revision of the state before the moment's commit.
func (m *moment) before() uint64 { return m.Revision - 1 }

// GetObject is Get for resources that are known only at run time.
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

// replaced returns a later state, and for each object written until then the first commit.
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

// merged returns a list of a later state with replaced objects in their old state, if they belong
// to the list.
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
