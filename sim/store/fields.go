package store

import (
	"bytes"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fields are the positions of spec and status in a kind's struct, -1 for none.
type fields struct{ spec, status int }

func fieldsOf(kind reflect.Type) fields {
	f := fields{-1, -1}
	for i := range kind.NumField() {
		switch kind.Field(i).Name {
		case "Spec":
			f.spec = i
		case "Status":
			f.status = i
		}
	}
	return f
}

// keep sets a field of obj to what it is in old; the objects then share it.
func keep(obj, old Object, index int) {
	if index >= 0 {
		reflect.ValueOf(obj).Elem().Field(index).Set(reflect.ValueOf(old).Elem().Field(index))
	}
}

// shallowCopy is a new object that shares with obj all that is behind pointers.
func shallowCopy(obj Object) Object {
	fresh := reflect.New(reflect.TypeOf(obj).Elem())
	fresh.Elem().Set(reflect.ValueOf(obj).Elem())
	return fresh.Interface().(Object)
}

// withOwnMetadata is a copy that shares all but the metadata.
func withOwnMetadata(obj Object) Object {
	fresh := shallowCopy(obj)
	metadataOf(obj).DeepCopyInto(metadataOf(fresh))
	return fresh
}

func metadataOf(obj Object) *metav1.ObjectMeta {
	return obj.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}

// clearField empties a field of obj.
func clearField(obj Object, index int) {
	if index >= 0 {
		reflect.ValueOf(obj).Elem().Field(index).SetZero()
	}
}

// sameField reports whether a field is equal in two objects of one kind.
func sameField(a, b Object, index int) bool {
	if index < 0 {
		return true
	}
	return same(reflect.ValueOf(a).Elem().Field(index).Addr().Interface(), reflect.ValueOf(b).Elem().Field(index).Addr().Interface())
}

// encodable is what the generated code of the Kubernetes API offers for its
// stored form, in which absent and empty lists are the same.
type encodable interface {
	Size() int
	Marshal() ([]byte, error)
}

// same reports whether two values would be stored as the same bytes, which is
// how the API server finds that an update changes nothing.
func same(a, b any) bool {
	x, ok := a.(encodable)
	if !ok {
		return equality.Semantic.DeepEqual(a, b)
	}
	y := b.(encodable)
	if x.Size() != y.Size() {
		return false
	}
	before, err := x.Marshal()
	if err != nil {
		return false
	}
	after, err := y.Marshal()
	return err == nil && bytes.Equal(before, after)
}
