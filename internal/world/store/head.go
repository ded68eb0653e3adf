package store

import (
	"iter"
	"slices"
	"strings"

	"github.com/hashicorp/go-memdb"
)

// head is the newest state. Nearly all operations of a cluster read and write single objects, for
// which maps are sufficient. The database is updated in one transaction when a state is kept. A
// radix tree copies a path for each write, and most objects are written again or removed before a
// state is kept.
type head struct {
	db      *memdb.MemDB
	objects byResource[shelf[Object]]
	compact byResource[shelf[Compact]] // for resources with a compact form
	// unsaved lists the changes that the database lacks. The value is true if the database has an
	// older state. It is nil until a state is kept.
	unsaved  map[*Resource]map[Key]bool
	indexes  *treeSet
	edition  edition // of the indexes
	revision uint64
	shown    *Snapshot // of this revision; nil until it is needed
	toucher  Toucher   // nil if none follows
}

func newHead() *head {
	return &head{db: emptyDatabase.Snapshot(), objects: make(byResource[shelf[Object]], len(inOrder))}
}

// apply makes the state after a commit the head.
func (h *head) apply(c *commit, moves []move) {
	switch {
	case c.New == nil:
		h.objects.of(c.Resource).remove(c.Key)
		h.compact.of(c.Resource).remove(c.Key)
	case c.Resource.Compact != nil && h.areMany(c.Resource):
		h.objects.of(c.Resource).remove(c.Key)
		h.compact.on(c.Resource).put(c.Resource, c.Key, c.Resource.Compact(c.Key, c.New))
	default:
		h.objects.on(c.Resource).put(c.Resource, c.Key, c.New)
	}
	if h.unsaved != nil {
		h.note(c)
	}
	h.index(c, moves)
	h.revision, h.shown = c.Revision, nil
}

// few is the number of objects up to which a resource's objects are stored in full: compacting so
// few objects saves too little memory for the time that it takes.
const few = 1_000

func (h *head) areMany(res *Resource) bool { return h.count(res) >= few }

// note records that the database lacks a commit.
func (h *head) note(c *commit) {
	if h.unsaved[c.Resource] == nil {
		h.unsaved[c.Resource] = map[Key]bool{}
	}
	unsaved := h.unsaved[c.Resource]
	isSaved, isUnsaved := unsaved[c.Key]
	isSaved = isSaved || !isUnsaved && c.Old != nil
	if c.New != nil || isSaved {
		unsaved[c.Key] = isSaved
	} else { // it was created and removed between two kept states
		delete(unsaved, c.Key)
	}
}

// index moves the object in the indexes.
func (h *head) index(c *commit, moves []move) {
	for _, m := range moves {
		for _, value := range m.old {
			if !slices.Contains(m.now, value) {
				h.indexes = h.indexes.without(&entry{m.index, value, c.Key}, h.edition)
			}
		}
		for _, value := range m.now {
			if !slices.Contains(m.old, value) {
				h.indexes = h.indexes.with(&entry{m.index, value, c.Key}, h.edition)
			}
		}
	}
}

// snapshot returns the current head as a snapshot.
func (h *head) snapshot() *Snapshot {
	if h.shown == nil {
		h.save()
		h.shown = &Snapshot{h.db.Txn(false), h.indexes, h.revision}
		h.edition++
	}
	return h.shown
}

// save updates the database.
func (h *head) save() {
	txn := h.db.Txn(true)
	if h.unsaved == nil {
		h.saveAll(txn)
	}
	// In any order: each key is a separate row.
	for res, keys := range h.unsaved {
		// In any order, too.
		for key := range keys {
			if row := h.row(res, key); row.isGone() {
				must(txn.Delete(objectsTable, row))
			} else {
				must(txn.Insert(objectsTable, row))
			}
		}
		clear(keys)
	}
	txn.Commit()
}

// saveAll fills the database when the first state is kept.
func (h *head) saveAll(txn *memdb.Txn) {
	h.unsaved = map[*Resource]map[Key]bool{}
	saveAll(txn, h, h.objects)
	saveAll(txn, h, h.compact)
}

func saveAll[T any](txn *memdb.Txn, h *head, shelves byResource[shelf[T]]) {
	for _, kept := range shelves {
		// In any order: each key is a separate row.
		for _, key := range kept.keys("") {
			must(txn.Insert(objectsTable, h.row(kept.of, key)))
		}
	}
}

// row returns the database's row of an object.
func (h *head) row(res *Resource, key Key) *row {
	object, _ := h.objects.of(res).get(key)
	compact, _ := h.compact.of(res).get(key)
	return &row{objectID(res, key), object, compact}
}

// count returns the number of objects of a resource.
func (h *head) count(res *Resource) int { return h.objects.of(res).len() + h.compact.of(res).len() }

// GetObject is Get for resources that are known only at run time.
func (h *head) GetObject(res *Resource, key Key) (Object, bool) {
	h.touchObject(res, key)
	obj, ok := h.objects.of(res).get(key)
	if !ok && res.Compact != nil {
		return h.expanded(res, key)
	}
	return obj, ok
}

func (h *head) expanded(res *Resource, key Key) (Object, bool) {
	kept, ok := h.compact.of(res).get(key)
	if !ok {
		return nil, false
	}
	return kept.Object(key), true
}

// ListObjects is List for callers that know the resource only at run time.
func (h *head) ListObjects(res *Resource, namespace string) iter.Seq[Object] {
	h.touchList(res)
	keys := append(h.objects.of(res).keys(namespace), h.compact.of(res).keys(namespace)...)
	slices.SortFunc(keys, Key.compare)
	found := make([]Object, len(keys))
	for i, key := range keys {
		found[i], _ = h.GetObject(res, key)
	}
	return slices.Values(found)
}

// IndexedObjects is Indexed for callers that know the resource only at run time.
func (h *head) IndexedObjects(res *Resource, index Index, value string) iter.Seq[Object] {
	h.touchList(res)
	var found []Object
	for key := range h.indexes.having(res.indexNamed(index), value) {
		obj, _ := h.GetObject(res, key)
		found = append(found, obj)
	}
	return slices.Values(found)
}

// keyNamed returns the key with the String name.
func keyNamed(name string) Key {
	if namespace, name, ok := strings.Cut(name, "/"); ok {
		return Key{namespace, name}
	}
	return Key{Name: name}
}
