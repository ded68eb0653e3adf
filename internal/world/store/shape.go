package store

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// shape is how the objects of a kind are made up: what of them is the spec, what
// the status.
type shape interface {
	// hasSpec says that there is a spec, apart from all else.
	hasSpec() bool
	// hasStatus says that there is a status.
	hasStatus() bool
	// keepSpec and keepStatus make a part of obj what it is in old; the objects then
	// share it.
	keepSpec(obj, old Object)
	keepStatus(obj, old Object)
	sameSpec(a, b Object) bool
	sameStatus(a, b Object) bool
	clearStatus(obj Object)
	// draft is a copy of a stored object whose metadata and one part, the spec or
	// the status, are its own, false if the shape can only copy all.
	draft(old Object, what part) (Object, bool)
}

// fields is the shape of Go structs: the positions of spec and status, -1 for none.
type fields struct {
	spec, status         int
	copySpec, copyStatus copier
}

// copier is the generated DeepCopyInto of a field's type.
type copier struct{ reflect.Value }

func fieldsOf(kind reflect.Type) fields {
	f := fields{spec: -1, status: -1}
	for i := range kind.NumField() {
		switch kind.Field(i).Name {
		case "Spec":
			f.spec, f.copySpec = i, copierOf(kind.Field(i).Type)
		case "Status":
			f.status, f.copyStatus = i, copierOf(kind.Field(i).Type)
		}
	}
	if kind.NumField() != len([]string{"TypeMeta", "ObjectMeta", "Spec", "Status"}) {
		f.copySpec = copier{} // a write of the spec may change more than the spec
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

func (f fields) hasSpec() bool               { return f.spec >= 0 }
func (f fields) hasStatus() bool             { return f.status >= 0 }
func (f fields) keepSpec(obj, old Object)    { keep(obj, old, f.spec) }
func (f fields) keepStatus(obj, old Object)  { keep(obj, old, f.status) }
func (f fields) sameSpec(a, b Object) bool   { return sameField(a, b, f.spec) }
func (f fields) sameStatus(a, b Object) bool { return sameField(a, b, f.status) }
func (f fields) clearStatus(obj Object)      { clearField(obj, f.status) }

func (f fields) draft(old Object, what part) (Object, bool) {
	index, copier := f.spec, f.copySpec
	if what == statusPart {
		index, copier = f.status, f.copyStatus
	}
	if !copier.IsValid() {
		return nil, false
	}
	obj := withOwnMetadata(old)
	if !copyPart(obj, old, what) {
		copier.copy(obj, old, index)
	}
	return obj, true
}

// copyPart does what a copier does, for the kinds that are written most, and without
// reflection.
func copyPart(obj, old Object, what part) (done bool) {
	switch old := old.(type) {
	case *corev1.Pod:
		obj := obj.(*corev1.Pod)
		copyEither(what, &obj.Spec, &old.Spec, &obj.Status, &old.Status)
	case *corev1.Node:
		obj := obj.(*corev1.Node)
		copyEither(what, &obj.Spec, &old.Spec, &obj.Status, &old.Status)
	case *corev1.PersistentVolume:
		obj := obj.(*corev1.PersistentVolume)
		copyEither(what, &obj.Spec, &old.Spec, &obj.Status, &old.Status)
	case *corev1.PersistentVolumeClaim:
		obj := obj.(*corev1.PersistentVolumeClaim)
		copyEither(what, &obj.Spec, &old.Spec, &obj.Status, &old.Status)
	case *storagev1.VolumeAttachment:
		obj := obj.(*storagev1.VolumeAttachment)
		copyEither(what, &obj.Spec, &old.Spec, &obj.Status, &old.Status)
	default:
		return false
	}
	return true
}

// copiesInto is a pointer to a type with a generated DeepCopyInto.
type copiesInto[T any] interface {
	*T
	DeepCopyInto(*T)
}

func copyEither[S, T any, Spec copiesInto[S], Status copiesInto[T]](what part, spec, oldSpec Spec, status, oldStatus Status) {
	if what == statusPart {
		oldStatus.DeepCopyInto(status)
	} else {
		oldSpec.DeepCopyInto(spec)
	}
}

// keep sets a field of obj to what it is in old; the objects then share it.
func keep(obj, old Object, index int) {
	if index >= 0 {
		reflect.ValueOf(obj).Elem().Field(index).Set(reflect.ValueOf(old).Elem().Field(index))
	}
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
