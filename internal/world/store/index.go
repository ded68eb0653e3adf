package store

import "slices"

// Index names a secondary index: a question by something else than the key.
type Index string

// OwnerUID finds objects of any resource by the uid of an owner reference.
const OwnerUID Index = "by owner uid"

// values appends the values that an object has in an index.
type values func(appendTo []string, obj Object) []string

// Indexer is one index of one resource.
type Indexer struct {
	index  Index
	values values
}

// of returns the values that the object, which may be nil, has in the index.
func (ix Indexer) of(obj Object) []string {
	if obj == nil {
		return nil
	}
	return ix.values(nil, obj)
}

// IndexBy makes the indexer of a typed object: of appends the values that it has.
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
