package store

import (
	"bytes"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// shallowCopy returns a new object that shares everything behind pointers with obj.
func shallowCopy(obj Object) Object {
	if custom, ok := obj.(*unstructured.Unstructured); ok {
		return shallowContent(custom)
	}
	fresh := reflect.New(reflect.TypeOf(obj).Elem())
	fresh.Elem().Set(reflect.ValueOf(obj).Elem())
	return fresh.Interface().(Object)
}

// Fork returns a copy with its own metadata. It shares everything else with obj: its fields may be
// set, but its maps, lists and pointers must not be modified.
func Fork[T Object](obj T) T { return withOwnMetadata(obj).(T) }

// withOwnMetadata returns a copy that shares all but the metadata.
func withOwnMetadata(obj Object) Object {
	fresh := shallowCopy(obj)
	// The shallow copy of a custom resource has its own metadata.
	if own, ok := fresh.(metav1.ObjectMetaAccessor); ok {
		metadataOf(obj).DeepCopyInto(own.GetObjectMeta().(*metav1.ObjectMeta))
	}
	return fresh
}

func metadataOf(obj Object) *metav1.ObjectMeta {
	return obj.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}

// encodable is implemented by the generated code of the Kubernetes API. The encoding does not
// distinguish absent and empty lists.
type encodable interface {
	Size() int
	MarshalToSizedBuffer([]byte) (int, error)
}

// Same reports whether two values have the same stored bytes. The API server uses the same test to
// find updates without changes.
func Same(a, b any) bool {
	x, ok := a.(encodable)
	if !ok {
		return equality.Semantic.DeepEqual(a, b)
	}
	y := b.(encodable)
	size := x.Size()
	if size != y.Size() {
		return false
	}
	room := make([]byte, 2*size)
	if _, err := x.MarshalToSizedBuffer(room[:size]); err != nil {
		return false
	}
	_, err := y.MarshalToSizedBuffer(room[size:])
	return err == nil && bytes.Equal(room[:size], room[size:])
}
