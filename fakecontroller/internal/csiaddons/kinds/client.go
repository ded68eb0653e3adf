package kinds

import (
	"fmt"
	"iter"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// pointer is *T, an Object.
type pointer[T any] interface {
	*T
	Object
}

// Resource returns a kind's resource; false until the kind is defined.
func Resource(c *component.Component, kind schema.GroupVersionKind) (*store.Resource, bool) {
	return c.Store.ResourceFor(kind)
}

func resourceOf(c *component.Component, obj Object) (*store.Resource, error) {
	res, ok := Resource(c, obj.Of())
	if !ok {
		return nil, fmt.Errorf("no matches for kind %q in version %q", obj.Of().Kind, obj.Of().GroupVersion())
	}
	return res, nil
}

// Get returns the object with a name from the component's cache.
func Get[T any, P pointer[T]](c *component.Component, key store.Key) (P, error) {
	obj := P(new(T))
	res, err := resourceOf(c, obj)
	if err != nil {
		return nil, err
	}
	found, ok := c.Cache.GetObject(res, key)
	if !ok {
		return nil, NotCached(obj.Of(), key)
	}
	return obj, read(found, obj)
}

// NotCached is the error of controller-runtime's caches for a missing object. These errors name the
// kind, whereas the API server names the resource.
func NotCached(kind schema.GroupVersionKind, key store.Key) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, key.Name)
}

// List ranges over the objects of a namespace, or of all, in the component's cache.
func List[T any, P pointer[T]](c *component.Component, namespace string) iter.Seq[P] {
	return func(yield func(P) bool) {
		res, ok := Resource(c, P(new(T)).Of())
		if !ok {
			return
		}
		for found := range c.Cache.ListObjects(res, namespace) {
			obj := P(new(T))
			if read(found, obj) == nil && !yield(obj) {
				return
			}
		}
	}
}

// Live reads the newest state of an object into it. The error is the API server's NotFound.
func Live(p *kernel.Process, c *component.Component, obj Object, key store.Key) error {
	res, err := resourceOf(c, obj)
	if err != nil {
		return err
	}
	found, ok := component.LiveObject(p, c, res, key)
	if !ok {
		return apierrors.NewNotFound(res.GVR.GroupResource(), key.Name)
	}
	return read(found, obj)
}

// Create creates an object. Like the functions below it reads the answer into the object.
func Create(p *kernel.Process, c *component.Component, obj Object) error {
	return write(p, c, obj, component.CreateObject)
}

// Update writes an object except for its status.
func Update(p *kernel.Process, c *component.Component, obj Object) error {
	return write(p, c, obj, component.UpdateObject)
}

// UpdateStatus writes an object's status.
func UpdateStatus(p *kernel.Process, c *component.Component, obj Object) error {
	return write(p, c, obj, component.UpdateStatusObject)
}

// Delete requests an object's deletion.
func Delete(p *kernel.Process, c *component.Component, obj Object, opts ...store.DeleteOption) error {
	res, err := resourceOf(c, obj)
	if err != nil {
		return err
	}
	return component.DeleteObject(p, c, res, store.KeyOf(obj), opts...)
}

type writer func(*kernel.Process, *component.Component, *store.Resource, store.Object) (store.Object, error)

func write(p *kernel.Process, c *component.Component, obj Object, do writer) error {
	res, err := resourceOf(c, obj)
	if err != nil {
		return err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return err
	}
	given := &unstructured.Unstructured{Object: content}
	given.SetGroupVersionKind(res.GVK)
	written, err := do(p, c, res, given)
	if err != nil {
		return err
	}
	return read(written, obj)
}

// read fills obj with the stored object. Fields that are not stored become empty.
func read(stored store.Object, obj Object) error {
	reflect.ValueOf(obj).Elem().SetZero()
	return runtime.DefaultUnstructuredConverter.FromUnstructured(stored.(*unstructured.Unstructured).Object, obj)
}

// Differ reports whether two states of an object differ in one of the given parts, "spec" or
// "status".
func Differ(old, obj store.Object, parts ...string) bool {
	before, after := old.(*unstructured.Unstructured).Object, obj.(*unstructured.Unstructured).Object
	for _, part := range parts {
		if !reflect.DeepEqual(before[part], after[part]) {
			return true
		}
	}
	return false
}
