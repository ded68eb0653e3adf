package store

import (
	"cmp"
	"slices"
	"strings"
)

// Index names a secondary index. It finds objects by a value other than their key.
type Index string

// OwnerUID finds objects of any resource by the uid of an owner reference.
const OwnerUID Index = "by owner uid"

// values appends the values of an object in an index.
type values func(appendTo []string, obj Object) []string

// Indexer is one index of one resource.
type Indexer struct {
	index  Index
	values values
}

// of returns the index values of the object, which may be nil.
func (ix Indexer) of(obj Object) []string {
	if obj == nil {
		return nil
	}
	return ix.values(nil, obj)
}

// IndexBy creates the indexer of a typed object. of appends its values.
func IndexBy[T Object](index Index, of func(appendTo []string, obj T) []string) Indexer {
	return Indexer{index, func(appendTo []string, obj Object) []string {
		typed, ok := obj.(T)
		if !ok {
			return appendTo
		}
		return of(appendTo, typed)
	}}
}

var byOwner = Indexer{OwnerUID, func(appendTo []string, obj Object) []string {
	for _, owner := range obj.GetOwnerReferences() {
		if uid := string(owner.UID); !slices.Contains(appendTo, uid) {
			appendTo = append(appendTo, uid)
		}
	}
	return appendTo
}}

// resourceIndex is an index of one resource.
type resourceIndex struct {
	Indexer
	resource string
}

func (r *Resource) allIndexes() (all []*resourceIndex) {
	for _, ix := range r.Indexes {
		all = append(all, &resourceIndex{ix, r.String()})
	}
	return append(all, &resourceIndex{byOwner, r.String()})
}

// indexNamed returns nil if the resource has no index with that name.
func (r *Resource) indexNamed(index Index) *resourceIndex {
	for _, ix := range r.indexers {
		if ix.index == index {
			return ix
		}
	}
	return nil
}

// compare sorts by resource and name. A resource that is defined again keeps its place.
func (ix *resourceIndex) compare(other *resourceIndex) int {
	if ix == other {
		return 0
	}
	return cmp.Or(strings.Compare(ix.resource, other.resource), strings.Compare(string(ix.index), string(other.index)))
}

// entry is an object's value in an index. It does not refer to the object, so a write without a
// changed value leaves the indexes unchanged.
type entry struct {
	index *resourceIndex
	value string
	key   Key
}

func (e *entry) compare(other *entry) int {
	if c := e.compareValue(other); c != 0 {
		return c
	}
	return e.key.compare(other.key)
}

// compareValue is compare without the keys.
func (e *entry) compareValue(other *entry) int {
	if c := e.index.compare(other.index); c != 0 {
		return c
	}
	return strings.Compare(e.value, other.value)
}
