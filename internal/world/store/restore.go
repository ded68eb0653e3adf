package store

import (
	"fmt"
	"strconv"
)

// Restore puts an object of an earlier store into this store unchanged: with its uid and its
// resource version. No rules apply. It takes ownership of obj. It must be called before the first
// component reads the store.
func (s *Store) Restore(res *Resource, obj Object) error {
	revision, err := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	if err != nil || revision == 0 {
		return fmt.Errorf("%s %s has the resource version %q, want a number above 0", res, KeyOf(obj), obj.GetResourceVersion())
	}
	old, _ := s.head.GetObject(res, KeyOf(obj))
	latest := s.head.revision
	s.head.revision = revision - 1
	s.Commit(res, KeyOf(obj), old, obj)
	s.Continue(latest)
	return nil
}

// Continue makes the next write get a revision above the given one.
func (s *Store) Continue(revision uint64) {
	if revision > s.head.revision {
		s.head.revision, s.head.shown = revision, nil
	}
}
