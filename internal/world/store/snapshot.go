package store

import (
	"iter"

	"github.com/hashicorp/go-memdb"
)

// Reader reads one state of the cluster: a *Store (its head), a *Snapshot, or a *View.
type Reader interface {
	GetObject(res *Resource, key Key) (Object, bool)
	ListObjects(res *Resource, namespace string) iter.Seq[Object]
	IndexedObjects(res *Resource, index Index, value string) iter.Seq[Object]
}

// Snapshot is the state at one revision. It never changes.
type Snapshot struct {
	objects  *memdb.Txn
	indexes  *treeSet
	revision uint64
}

// Revision returns the number of the last write in the snapshot.
func (s *Snapshot) Revision() uint64 { return s.revision }

// GetObject is Get for resources that are known only at run time.
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
		rows, err := s.objects.Get(objectsTable, "id_prefix", prefix)
		must(err)
		for raw := rows.Next(); raw != nil; raw = rows.Next() {
			if !yield(raw.(*row).stored()) {
				return
			}
		}
	}
}

// IndexedObjects is Indexed for callers that know the resource only at run time.
func (s *Snapshot) IndexedObjects(res *Resource, index Index, value string) iter.Seq[Object] {
	return func(yield func(Object) bool) {
		for key := range s.indexes.having(res.indexNamed(index), value) {
			obj, ok := s.get(objectID(res, key))
			if ok && !yield(obj) {
				return
			}
		}
	}
}

func (s *Snapshot) get(id string) (Object, bool) {
	raw, err := s.objects.First(objectsTable, "id", id)
	must(err)
	if raw == nil {
		return nil, false
	}
	return raw.(*row).stored(), true
}
