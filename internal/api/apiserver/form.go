package apiserver

import (
	"github.com/csisim/csisim/internal/world/store"
)

// presented is a stored object as the kind shows it.
func (k *servedKind) presented(obj store.Object) store.Object {
	if k.form == nil || obj == nil {
		return obj
	}
	return k.form.Present(obj)
}

// accepted is an object of the kind as it is stored.
func (k *servedKind) accepted(obj store.Object) store.Object {
	if k.form == nil || obj == nil {
		return obj
	}
	return k.form.Accept(obj)
}
