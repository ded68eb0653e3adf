package apiserver

import (
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// To find the owners of fields, the library checks objects against their schema, builds objects of
// values to read their version, and copies objects that already have the wanted version. That is
// most of the cost of a write, and unnecessary here: stored objects have Go types, and nearly all
// fields of a kind are owned in one version.

// thriftyTypes check only request bodies, and build objects of values only if they need more than
// the version.
type thriftyTypes struct {
	typeConverter
	known *sync.Map // of kinds, the typed.ParseableType
}

func newThriftyTypes(types typeConverter) thriftyTypes { return thriftyTypes{types, &sync.Map{}} }

func (t thriftyTypes) ObjectToTyped(obj runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	kind := obj.GetObjectKind().GroupVersionKind()
	_, ofClient := obj.(runtime.Unstructured)
	known, ok := t.known.Load(kind)
	if ofClient || !ok {
		made, err := t.typeConverter.ObjectToTyped(obj, options...)
		if err == nil {
			t.known.Store(kind, typed.ParseableType{TypeRef: made.TypeRef(), Schema: made.Schema()})
		}
		return made, err
	}
	fields, err := value.NewValueReflect(obj)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of a %T: %w", obj, err)
	}
	as := known.(typed.ParseableType)
	//lint:ignore SA1019 the check is a third of the cost, of objects with their Go types
	return typed.AsTypedUnvalidated(fields, as.Schema, as.TypeRef), nil
}

func (t thriftyTypes) TypedToObject(fields *typed.TypedValue) (runtime.Object, error) {
	return &unmade{value: fields, types: t.typeConverter}, nil
}

// unmade is a value that was not converted to an object yet.
type unmade struct {
	metav1.TypeMeta
	value *typed.TypedValue
	types typeConverter
}

func (u *unmade) GetObjectKind() schema.ObjectKind {
	if u.APIVersion == "" {
		u.APIVersion, u.Kind = u.text("apiVersion"), u.text("kind")
	}
	return &u.TypeMeta
}

// text returns a field of the value, "" if there is none.
func (u *unmade) text(field string) string {
	if fields := u.value.AsValue(); fields.IsMap() {
		if text, ok := fields.AsMap().Get(field); ok && text.IsString() {
			return text.AsString()
		}
	}
	return ""
}

// DeepCopyObject returns the object itself: a value never changes.
func (u *unmade) DeepCopyObject() runtime.Object { return u }

// thriftyVersions convert objects, but do not copy those that already have the version, because
// callers do not modify them.
type thriftyVersions struct{ *runtime.Scheme }

func (v thriftyVersions) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	if u, ok := in.(*unmade); ok {
		made, err := u.types.TypedToObject(u.value)
		if err != nil {
			return nil, err
		}
		return v.Scheme.ConvertToVersion(made, to)
	}
	is := in.GetObjectKind().GroupVersionKind()
	if wanted, ok := to.KindForGroupVersionKinds([]schema.GroupVersionKind{is}); ok && wanted == is {
		return in, nil
	}
	return v.Scheme.ConvertToVersion(in, to)
}
