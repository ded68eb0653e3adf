package store

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is one kind of object: the table of its objects, and the rules for writing them.
type Resource struct {
	GVK        schema.GroupVersionKind
	GVR        schema.GroupVersionResource
	Namespaced bool
	// Status means that the kind has a status subresource. Writes of the object then keep its
	// status, and writes of the status keep the rest.
	Status bool
	// Generation means that metadata.generation counts the changes of the spec.
	Generation bool
	// Qualified means that the plural name without a group means another resource, so this resource
	// needs its group.
	Qualified bool
	// New makes an empty object of the kind.
	New func() Object
	// Indexes are the secondary indexes, besides OwnerUID.
	Indexes []Indexer
	// Kind is the API's description of the kind. The store does not read it.
	Kind any

	Strategy
	number   int // unique within a store
	prefix   string
	indexers []*resourceIndex
	shape    shape
	goType   reflect.Type
}

// moves lists an object's old and new values in the indexes. Either object may be nil. The list is
// valid until the next call.
func (d *sheet) moves(r *Resource, old, obj Object) []move {
	d.all, d.values = d.all[:0], d.values[:0]
	for _, ix := range r.indexers {
		if m := (move{ix, d.valuesOf(ix.Indexer, old), d.valuesOf(ix.Indexer, obj)}); len(m.old)+len(m.now) > 0 {
			d.all = append(d.all, m)
		}
	}
	return d.all
}

// sheet is the memory for the moves of a commit.
type sheet struct {
	all    []move
	values []string
}

func (d *sheet) valuesOf(ix Indexer, obj Object) []string {
	if obj == nil {
		return nil
	}
	begin := len(d.values)
	values := ix.values(d.values[begin:], obj)
	d.values = append(d.values[:begin], values...)
	return values
}

// valuesOf returns the values of obj in one index.
func (r *Resource) valuesOf(index Index, obj Object) []string {
	if ix := r.indexNamed(index); ix != nil {
		return ix.of(obj)
	}
	return nil
}

// mustHave panics if the resource lacks the index, which is a bug in the calling program.
func (r *Resource) mustHave(index Index) {
	if r.indexNamed(index) == nil {
		panic(fmt.Sprintf("store: %s have no index %q", r, index))
	}
}

// String returns the resource's name with its group: "volumeattachments.storage.k8s.io".
func (r *Resource) String() string { return r.GVR.GroupResource().String() }

var (
	byType  = map[reflect.Type]*Resource{}
	byKind  = map[schema.GroupVersionKind]*Resource{}
	byName  = map[string]*Resource{}
	inOrder []*Resource // by name and group
)

// Register adds a kind with a Go type that is new to the store. It must be called while the program
// initializes.
func Register(res Resource) *Resource {
	r := &res
	r.number = len(inOrder)
	r.prefix, r.indexers = r.String()+"\x00", r.allIndexes()
	r.goType = reflect.TypeOf(r.New())
	r.shape = fieldsOf(r.goType.Elem(), r.CopyPart)
	if _, taken := byKind[r.GVK]; taken {
		panic(fmt.Sprintf("store: %s is registered twice", r.GVK))
	}
	byKind[r.GVK] = r
	at, _ := slices.BinarySearchFunc(inOrder, r, (*Resource).compare)
	inOrder = slices.Insert(inOrder, at, r)
	byType[r.goType] = r
	byName[r.String()] = r
	if !r.Qualified {
		byName[r.GVR.Resource] = r
	}
	return r
}

// ResourceFor finds a resource by its kind.
func ResourceFor(gvk schema.GroupVersionKind) (*Resource, bool) {
	r, ok := byKind[gvk]
	return r, ok
}

// ResourceNamed finds a resource by its plural name, such as "pods". If two groups have resources
// with one name, the name contains the group, as in "events.events.k8s.io".
func ResourceNamed(name string) (*Resource, bool) {
	r, ok := byName[name]
	return r, ok
}

// Resources returns all built-in resources, sorted by name and group.
func Resources() []*Resource {
	return slices.Clone(inOrder)
}

func sorted(all []*Resource) []*Resource {
	slices.SortFunc(all, (*Resource).compare)
	return all
}

func (r *Resource) compare(other *Resource) int {
	return cmp.Or(cmp.Compare(r.GVR.Resource, other.GVR.Resource), cmp.Compare(r.GVR.Group, other.GVR.Group))
}

// ResourceOf finds the resource of an object by its Go type.
func ResourceOf(obj Object) (*Resource, error) {
	if r, ok := byType[reflect.TypeOf(obj)]; ok {
		return r, nil
	}
	return nil, fmt.Errorf("no resource is registered for %T", obj)
}
