package store

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
)

// guard holds the hashes of stored objects at the time of their writes, by the objects' ids in the
// objects table.
type guard map[string]uint64

func (g guard) remember(res *Resource, key Key, obj Object) {
	if obj == nil {
		delete(g, objectID(res, key))
		return
	}
	g[objectID(res, key)] = fingerprint(obj)
}

// VerifyImmutable names the first object that was changed in place since it was
// written. It needs Options.Guard.
func (s *Store) VerifyImmutable() error {
	if s.guard == nil {
		return fmt.Errorf("verify that stored objects are unchanged: Options.Guard is off")
	}
	for _, id := range slices.Sorted(maps.Keys(s.guard)) {
		obj, ok := s.Snapshot().get(id)
		if !ok {
			return fmt.Errorf("object %q was removed without a write", id)
		}
		if fingerprint(obj) != s.guard[id] {
			return fmt.Errorf("%T %s was changed in place after revision %s: copy objects before changing them", obj, KeyOf(obj), obj.GetResourceVersion())
		}
	}
	return nil
}

func fingerprint(obj Object) uint64 {
	h := fnv.New64a()
	if err := json.NewEncoder(h).Encode(obj); err != nil {
		panic(fmt.Errorf("encode %T %s: %w", obj, KeyOf(obj), err))
	}
	return h.Sum64()
}
