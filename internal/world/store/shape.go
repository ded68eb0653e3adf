package store

import (
	"reflect"
)

// shape identifies the parts of a kind's objects that are the spec and the status.
type shape interface {
	// hasSpec reports whether there is a separate spec.
	hasSpec() bool
	// hasStatus reports whether there is a status.
	hasStatus() bool
	// keepSpec and keepStatus copy a part of old to obj; both objects then share it.
	keepSpec(obj, old Object)
	keepStatus(obj, old Object)
	sameSpec(a, b Object) bool
	sameStatus(a, b Object) bool
	clearStatus(obj Object)
	// draft returns a copy of a stored object with separate metadata and a separate spec or status.
	// It returns false if the shape can only copy the whole object.
	draft(old Object, what Part) (Object, bool)
}

// fields is the shape of Go structs: the positions of spec and status, -1 if there is none.
type fields struct {
	spec, status         int
	copySpec, copyStatus copier
	copyPart             func(obj, old Object, what Part) // replaces the copiers if set
}

// copier is the generated DeepCopyInto of a field's type.
type copier struct{ reflect.Value }

func fieldsOf(kind reflect.Type, copyPart func(obj, old Object, what Part)) fields {
	f := fields{spec: -1, status: -1, copyPart: copyPart}
	for i := range kind.NumField() {
		switch kind.Field(i).Name {
		case "Spec":
			f.spec, f.copySpec = i, copierOf(kind.Field(i).Type)
		case "Status":
			f.status, f.copyStatus = i, copierOf(kind.Field(i).Type)
		}
	}
	if kind.NumField() != len([]string{"TypeMeta", "ObjectMeta", "Spec", "Status"}) {
		f.copySpec = copier{} // a write of the spec may change other fields, too
	}
	return f
}

func copierOf(field reflect.Type) copier {
	method, _ := reflect.PointerTo(field).MethodByName("DeepCopyInto")
	return copier{method.Func}
}

// copy gives obj a separate copy of a field of old.
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

func (f fields) draft(old Object, what Part) (Object, bool) {
	index, copier := f.spec, f.copySpec
	if what == StatusPart {
		index, copier = f.status, f.copyStatus
	}
	if !copier.IsValid() {
		return nil, false
	}
	obj := withOwnMetadata(old)
	if f.copyPart != nil {
		f.copyPart(obj, old, what)
	} else {
		copier.copy(obj, old, index)
	}
	return obj, true
}

// CopyOf creates a Strategy's CopyPart for a Go type from the positions of the type's parts.
func CopyOf[T Object, S, U any, Spec copiesInto[S], Status copiesInto[U]](parts func(T) (Spec, Status)) func(obj, old Object, what Part) {
	return func(obj, old Object, what Part) {
		spec, status := parts(obj.(T))
		oldSpec, oldStatus := parts(old.(T))
		if what == StatusPart {
			oldStatus.DeepCopyInto(status)
		} else {
			oldSpec.DeepCopyInto(spec)
		}
	}
}

// copiesInto is a pointer to a type with a generated DeepCopyInto.
type copiesInto[T any] interface {
	*T
	DeepCopyInto(*T)
}

// keep copies a field of old to obj; both objects then share it.
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
	return Same(reflect.ValueOf(a).Elem().Field(index).Addr().Interface(), reflect.ValueOf(b).Elem().Field(index).Addr().Interface())
}
