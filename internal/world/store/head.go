package store

import (
	"iter"
	"slices"
	"strings"

	"github.com/hashicorp/go-memdb"
)

// head is the newest state. Nearly all that a cluster does is to read and write
// single objects of it, which touches maps only. The database learns what was
// written when somebody keeps a state, in one transaction: a radix tree copies its
// path for each write, and most objects are written again or removed before
// anybody looks.
type head struct {
	db       *memdb.MemDB
	objects  map[*Resource]map[Key]Object
	unsaved  map[*Resource]map[Key]bool // what the database has to learn; true if it knows an older state; nil before anybody looks
	indexes  *treeSet
	edition  edition // of the indexes
	revision uint64
	shown    *Snapshot // of this very revision, nil before it is asked for
}

func newHead() *head {
	return &head{
		db:      emptyDatabase.Snapshot(),
		objects: map[*Resource]map[Key]Object{},
	}
}

// apply makes the state after a commit the head.
func (h *head) apply(c *commit, moves []move) {
	if h.objects[c.Resource] == nil {
		h.objects[c.Resource] = map[Key]Object{}
	}
	if c.New != nil {
		h.objects[c.Resource][c.Key] = c.New
	} else {
		delete(h.objects[c.Resource], c.Key)
	}
	if h.unsaved != nil {
		h.note(c)
	}
	h.index(c, moves)
	h.revision, h.shown = c.Revision, nil
}

// note remembers what the database has to learn of a commit.
func (h *head) note(c *commit) {
	if h.unsaved[c.Resource] == nil {
		h.unsaved[c.Resource] = map[Key]bool{}
	}
	unsaved := h.unsaved[c.Resource]
	isSaved, isUnsaved := unsaved[c.Key]
	isSaved = isSaved || !isUnsaved && c.Old != nil
	if c.New != nil || isSaved {
		unsaved[c.Key] = isSaved
	} else { // it came and went while nobody looked
		delete(unsaved, c.Key)
	}
}

// index moves the object in the indexes.
func (h *head) index(c *commit, moves []move) {
	for _, m := range moves {
		for _, value := range m.old {
			if !slices.Contains(m.now, value) {
				h.indexes = h.indexes.without(entry(c.Resource, m.index, value, c.Key), h.edition)
			}
		}
		for _, value := range m.now {
			if !slices.Contains(m.old, value) {
				h.indexes = h.indexes.with(entry(c.Resource, m.index, value, c.Key), h.edition)
			}
		}
	}
}

// snapshot is the head as it is now, to be kept.
func (h *head) snapshot() *Snapshot {
	if h.shown == nil {
		h.save()
		h.shown = &Snapshot{h.db.Txn(false), h.indexes, h.revision}
		h.edition++
	}
	return h.shown
}

// save brings the database up to date.
func (h *head) save() {
	txn := h.db.Txn(true)
	if h.unsaved == nil {
		h.saveAll(txn)
	}
	// In any order: each key is a row of its own.
	for res, keys := range h.unsaved {
		// In any order, too.
		for key := range keys {
			id := objectID(res, key)
			if obj, ok := h.objects[res][key]; ok {
				must(txn.Insert(objectsTable, &row{id, obj}))
			} else {
				must(txn.Delete(objectsTable, &row{id: id}))
			}
		}
		clear(keys)
	}
	txn.Commit()
}

// saveAll is the first time that somebody looks.
func (h *head) saveAll(txn *memdb.Txn) {
	h.unsaved = map[*Resource]map[Key]bool{}
	// In any order: each key is a row of its own.
	for res, objects := range h.objects {
		// In any order, too.
		for key, obj := range objects {
			must(txn.Insert(objectsTable, &row{objectID(res, key), obj}))
		}
	}
}

// GetObject is Get for callers that know the resource only at run time.
func (h *head) GetObject(res *Resource, key Key) (Object, bool) {
	obj, ok := h.objects[res][key]
	return obj, ok
}

// ListObjects is List for callers that know the resource only at run time.
func (h *head) ListObjects(res *Resource, namespace string) iter.Seq[Object] {
	var keys []Key
	for key := range h.objects[res] {
		if namespace == "" || key.Namespace == namespace {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, Key.compare)
	found := make([]Object, len(keys))
	for i, key := range keys {
		found[i] = h.objects[res][key]
	}
	return slices.Values(found)
}

// IndexedObjects is Indexed for callers that know the resource only at run time.
func (h *head) IndexedObjects(res *Resource, index Index, value string) iter.Seq[Object] {
	var found []Object
	for name := range h.indexes.after(entryPrefix(res, index, value)) {
		found = append(found, h.objects[res][keyNamed(name)])
	}
	return slices.Values(found)
}

// keyNamed is the key whose String is name.
func keyNamed(name string) Key {
	if namespace, name, ok := strings.Cut(name, "/"); ok {
		return Key{namespace, name}
	}
	return Key{Name: name}
}
