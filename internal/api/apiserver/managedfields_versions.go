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

// To find out whose the fields are, the library checks objects against their schema, makes
// objects of values to see of which version they are, and copies objects that are of the
// wanted version already. That is most of what a write costs, and has no use here: stored
// objects are of Go types, and one version of a kind owns nearly all fields there are.

// thriftyTypes check only what clients wrote, and make objects of values when more than
// their version is asked for.
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
	//lint:ignore SA1019 the check is a third of what follows, of objects that were decoded into their Go types
	return typed.AsTypedUnvalidated(fields, as.Schema, as.TypeRef), nil
}

func (t thriftyTypes) TypedToObject(fields *typed.TypedValue) (runtime.Object, error) {
	return &unmade{value: fields, types: t.typeConverter}, nil
}

// unmade is an object that was not made of its value yet.
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

// text is a field of the value, "" if there is none.
func (u *unmade) text(field string) string {
	if fields := u.value.AsValue(); fields.IsMap() {
		if text, ok := fields.AsMap().Get(field); ok && text.IsString() {
			return text.AsString()
		}
	}
	return ""
}

// DeepCopyObject returns it as it is: a value never changes.
func (u *unmade) DeepCopyObject() runtime.Object { return u }

// thriftyVersions convert objects, and do not copy those that are of the version already:
// nobody changes what is asked for.
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
