package apiserver

import (
	"github.com/csisim/csisim/internal/world/store"
)

// presented converts a stored object to the form of the kind.
func (k *servedKind) presented(obj store.Object) store.Object {
	if k.form == nil || obj == nil {
		return obj
	}
	return k.form.Present(obj)
}

// accepted converts an object of the kind to its stored form.
func (k *servedKind) accepted(obj store.Object) store.Object {
	if k.form == nil || obj == nil {
		return obj
	}
	return k.form.Accept(obj)
}
