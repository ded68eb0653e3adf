package store

import (
	"iter"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Get returns the object of type T under key, which must not be modified.
func Get[T Object](r Reader, key Key) (T, bool) {
	obj, ok := r.GetObject(resourceFor[T](), key)
	if !ok {
		var none T
		return none, false
	}
	return obj.(T), true
}

// NotFound returns the API server's error for a missing T.
func NotFound[T Object](key Key) error {
	return apierrors.NewNotFound(resourceFor[T]().GVR.GroupResource(), key.Name)
}

// List iterates over the objects of type T in a namespace ("" means all), in the order of their
// keys. It does not see concurrent writes.
func List[T Object](r Reader, namespace string) iter.Seq[T] {
	return typed[T](r.ListObjects(resourceFor[T](), namespace))
}

// Indexed iterates over the objects of type T with the value in the index, in the order of their
// keys.
func Indexed[T Object](r Reader, index Index, value string) iter.Seq[T] {
	return typed[T](r.IndexedObjects(resourceFor[T](), index, value))
}

func typed[T Object](objects iter.Seq[Object]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for obj := range objects {
			if !yield(obj.(T)) {
				return
			}
		}
	}
}

// GroupResourceOf returns the group and resource of a kind.
func GroupResourceOf[T Object]() schema.GroupResource { return resourceFor[T]().GVR.GroupResource() }

// resourceFor returns the resource of a Go type that is fixed in the program.
func resourceFor[T Object]() *Resource {
	res, ok := byType[reflect.TypeFor[T]()]
	if !ok {
		panic("store: no resource is registered for " + reflect.TypeFor[T]().String())
	}
	return res
}
