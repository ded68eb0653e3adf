package store

import (
	"bytes"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fields are the positions of spec and status in a kind's struct, -1 for none.
type fields struct {
	spec, status int
	copyStatus   copier
}

// copier is the generated DeepCopyInto of a field's type.
type copier struct{ reflect.Value }

func fieldsOf(kind reflect.Type) fields {
	f := fields{spec: -1, status: -1}
	for i := range kind.NumField() {
		switch kind.Field(i).Name {
		case "Spec":
			f.spec = i
		case "Status":
			f.status, f.copyStatus = i, copierOf(kind.Field(i).Type)
		}
	}
	return f
}

func copierOf(field reflect.Type) copier {
	method, _ := reflect.PointerTo(field).MethodByName("DeepCopyInto")
	return copier{method.Func}
}

// copy gives obj a copy of its own of a field of old.
func (c copier) copy(obj, old Object, index int) {
	from, to := reflect.ValueOf(old).Elem().Field(index), reflect.ValueOf(obj).Elem().Field(index)
	c.Call([]reflect.Value{from.Addr(), to.Addr()})
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

// Fork is a copy with metadata of its own, which shares all else with obj: fields
// of it may be set, but what is in its maps and lists or behind its pointers must
// stay as it is.
func Fork[T Object](obj T) T { return withOwnMetadata(obj).(T) }

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
