package store

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Resource describes one kind of object and the rules of its writes. The
// exported fields are what Register needs; what is not exported are the rules
// that only this package states.
type Resource struct {
	GVK        schema.GroupVersionKind
	GVR        schema.GroupVersionResource
	Namespaced bool
	// Status says that the kind has a status subresource: writes of the object
	// keep its status, writes of the status keep the rest.
	Status bool
	// Generation says that metadata.generation counts the changes of the spec.
	Generation bool
	// New makes an empty object of the kind.
	New func() Object
	// ShortNames and Categories are what kubectl calls its objects, too.
	ShortNames, Categories []string

	rules
	prefix   string
	indexers []indexer
	shape    shape
	goType   reflect.Type
	custom   *custom // nil for kinds that are built in
}

// rules are what the API server does with one kind beyond what it does with all.
// Nil functions do nothing.
type rules struct {
	// name is the check of metadata.name; nil means a DNS subdomain. nameOf is one
	// that depends on the object.
	name   func(name string, prefix bool) []string
	nameOf func(obj Object) func(name string, prefix bool) []string
	// anyFinalizer says that finalizers without a domain are taken, as in kinds that
	// a CustomResourceDefinition brings.
	anyFinalizer bool
	// conditional says that updates must name a resourceVersion.
	conditional bool
	// createdByUpdate says that an update of an object that is missing creates it.
	createdByUpdate bool
	// keepsStatus says that a new object keeps the status that it is given.
	keepsStatus bool
	// statusOnly says that writes of the status leave labels, annotations,
	// finalizers and owners as they are.
	statusOnly bool
	// fill sets the defaults of unset fields.
	fill func(obj Object)
	// admit completes a new object from what the cluster holds, or refuses it.
	admit func(a admission, obj Object) error
	// admitUpdate refuses a valid change for what the cluster holds.
	admitUpdate func(cluster Reader, obj, old Object) error
	// prepare settles, before validation, what an update cannot decide.
	prepare func(obj, old Object)
	// prepareStatus is prepare for the status subresource.
	prepareStatus func(now metav1.Time, obj, old Object)
	// validate names the mistakes of a new object, validateUpdate of a change of
	// the spec, or of anything if the kind has no spec.
	validate       func(obj Object) field.ErrorList
	validateUpdate func(obj, old Object) field.ErrorList
	// passes are what an update of the object goes through, in this order, once its
	// metadata has been checked as that of all kinds. Default: changed, rest.
	passes []pass
	// readsAnnotations says that validateUpdate looks at annotations, too.
	readsAnnotations bool
	// validateStatus names the mistakes of a change of the status.
	validateStatus func(obj, old Object) field.ErrorList
	// grace decides how many seconds a first deletion grants; nil means that the
	// kind has no graceful deletion.
	grace func(obj Object, requested *int64) int64
	// terminate begins a deletion and reports whether the object has to stay.
	terminate func(now metav1.Time, obj Object) bool
	indexes   []indexer
	// quota is what objects count for in quotas, besides their number.
	quota *evaluator
}

// admission is what the admission of a new object may look at.
type admission struct {
	now     metav1.Time
	cluster Reader
	options Options
}

// moves lists the values that an object had and has in the indexes. Either object
// may be nil. The list is good until the next.
func (d *sheet) moves(r *Resource, old, obj Object) []move {
	d.all, d.values = d.all[:0], d.values[:0]
	for _, ix := range r.indexers {
		if m := (move{ix.index, d.valuesOf(ix, old), d.valuesOf(ix, obj)}); len(m.old)+len(m.now) > 0 {
			d.all = append(d.all, m)
		}
	}
	return d.all
}

// sheet is where the moves of a commit are written down.
type sheet struct {
	all    []move
	values []string
}

func (d *sheet) valuesOf(ix indexer, obj Object) []string {
	if obj == nil {
		return nil
	}
	begin := len(d.values)
	values := ix.values(d.values[begin:], obj)
	d.values = append(d.values[:begin], values...)
	return values
}

// valuesOf returns the values that obj has in one index.
func (r *Resource) valuesOf(index Index, obj Object) []string {
	for _, ix := range r.indexers {
		if ix.index == index {
			return ix.of(obj)
		}
	}
	return nil
}

// mustHave panics for an index that the resource does not have: a mistake in the
// calling program.
func (r *Resource) mustHave(index Index) {
	for _, ix := range r.indexers {
		if ix.index == index {
			return
		}
	}
	panic(fmt.Sprintf("store: %s have no index %q", r, index))
}

// String is the resource's name with its group: "volumeattachments.storage.k8s.io".
func (r *Resource) String() string { return r.GVR.GroupResource().String() }

var (
	byType = map[reflect.Type]*Resource{}
	byKind = map[schema.GroupVersionKind]*Resource{}
	byName = map[string]*Resource{}
)

// Register adds a kind whose Go type is not yet known to the store. To be called
// while a program initializes.
func Register(res Resource) *Resource {
	r := &res
	r.prefix = r.String() + "\x00"
	r.ShortNames, r.Categories = namesOf[r.String()].short, namesOf[r.String()].categories
	r.indexers = append(slices.Clone(r.indexes), byOwner)
	r.goType = reflect.TypeOf(r.New())
	r.shape = fieldsOf(r.goType.Elem())
	if _, taken := byKind[r.GVK]; taken {
		panic(fmt.Sprintf("store: %s is registered twice", r.GVK))
	}
	byKind[r.GVK] = r
	byType[r.goType] = r
	if _, taken := byName[r.GVR.Resource]; !taken {
		byName[r.GVR.Resource] = r
	}
	byName[r.String()] = r
	return r
}

// ResourceFor finds a resource by its kind.
func ResourceFor(gvk schema.GroupVersionKind) (*Resource, bool) {
	r, ok := byKind[gvk]
	return r, ok
}

// ResourceNamed finds a resource by its plural name, "pods", or with its group,
// "events.events.k8s.io" where two groups have resources of that name.
func ResourceNamed(name string) (*Resource, bool) {
	r, ok := byName[name]
	return r, ok
}

// Resources are all resources that are built in, sorted by name and group.
func Resources() []*Resource {
	return sorted(slices.Collect(maps.Values(byKind)))
}

func sorted(all []*Resource) []*Resource {
	slices.SortFunc(all, func(a, b *Resource) int {
		return cmp.Or(cmp.Compare(a.GVR.Resource, b.GVR.Resource), cmp.Compare(a.GVR.Group, b.GVR.Group))
	})
	return all
}

// ResourceOf finds the resource of an object by its Go type.
func ResourceOf(obj Object) (*Resource, error) {
	if r, ok := byType[reflect.TypeOf(obj)]; ok {
		return r, nil
	}
	return nil, fmt.Errorf("no resource is registered for %T", obj)
}
