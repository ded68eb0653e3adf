package store

import (
	"iter"
)

// Reader is anything that shows one state of the cluster: a *Store (its head), a
// *Snapshot, a *View.
type Reader interface {
	GetObject(res *Resource, key Key) (Object, bool)
	ListObjects(res *Resource, namespace string) iter.Seq[Object]
	IndexedObjects(res *Resource, index Index, value string) iter.Seq[Object]
}

// Snapshot is the state at one revision. It never changes.
type Snapshot struct {
	objects  *table
	indexes  *entries
	revision uint64
}

// Revision is the number of the last write that the snapshot shows.
func (s *Snapshot) Revision() uint64 { return s.revision }

// GetObject is Get for callers that know the resource only at run time.
func (s *Snapshot) GetObject(res *Resource, key Key) (Object, bool) {
	return s.get(objectID(res, key))
}

// ListObjects is List for callers that know the resource only at run time.
func (s *Snapshot) ListObjects(res *Resource, namespace string) iter.Seq[Object] {
	prefix := res.prefix
	if namespace != "" {
		prefix += namespace + "/"
	}
	return func(yield func(Object) bool) {
		for r := range rows(s.objects, prefix) {
			if !yield(r.stored()) {
				return
			}
		}
	}
}

// IndexedObjects is Indexed for callers that know the resource only at run time.
func (s *Snapshot) IndexedObjects(res *Resource, index Index, value string) iter.Seq[Object] {
	return func(yield func(Object) bool) {
		for key := range having(s.indexes, res.indexNamed(index), value) {
			obj, ok := s.get(objectID(res, key))
			if ok && !yield(obj) {
				return
			}
		}
	}
}

func (s *Snapshot) get(id string) (Object, bool) {
	found := s.objects.find(&row{id: id})
	if found == nil {
		return nil, false
	}
	return found.stored(), true
}
