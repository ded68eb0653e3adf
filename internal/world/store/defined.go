package store

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Define adds a resource only to this store. Its objects are JSON, as unstructured.Unstructured. It
// must be called again when the stored version or the status subresource has changed.
func (s *Store) Define(res *Resource) {
	if res.number == 0 {
		s.everDefined++
		res.number = len(inOrder) + s.everDefined
	}
	res.prefix, res.indexers = res.String()+"\x00", res.allIndexes()
	res.shape = content{status: res.Status}
	s.defined[res.String()] = res
}

// Undefine removes the resource with this name, which includes the group, from the store.
func (s *Store) Undefine(name string) { delete(s.defined, name) }

// DefinedAs finds a resource of this store by its name, which includes the group.
func (s *Store) DefinedAs(name string) (*Resource, bool) {
	res, ok := s.defined[name]
	return res, ok
}

// Resources returns all resources of the store, built-in and defined, sorted by name and group.
func (s *Store) Resources() []*Resource {
	if len(s.defined) == 0 {
		return Resources()
	}
	return sorted(append(Resources(), s.Defined()...))
}

// Defined returns the resources of this store alone, sorted by name and group.
func (s *Store) Defined() []*Resource { return sorted(slices.Collect(maps.Values(s.defined))) }

// ResourceFor finds a resource by its kind, a defined one by any version.
func (s *Store) ResourceFor(gvk schema.GroupVersionKind) (*Resource, bool) {
	if r, ok := ResourceFor(gvk); ok {
		return r, true
	}
	for _, r := range s.defined { // any order: at most one resource has the kind
		if r.GVK.GroupKind() == gvk.GroupKind() {
			return r, true
		}
	}
	return nil, false
}
