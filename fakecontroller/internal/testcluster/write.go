package testcluster

import (
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/store"
)

// Create makes an object.
func Create[T store.Object](in world, obj T) T {
	in.api().T.Helper()
	made, err := store.Create(in.api().Store, obj)
	require.NoError(in.api().T, err)
	return made
}

// Get reads an existing object.
func Get[T store.Object](in world, namespace, name string) T {
	in.api().T.Helper()
	obj, ok := store.Get[T](in.api().Store, store.Key{Namespace: namespace, Name: name})
	require.True(in.api().T, ok, "%T %s is there", obj, name)
	return obj
}

// Exists reports whether an object is there.
func Exists[T store.Object](in world, namespace, name string) bool {
	_, ok := store.Get[T](in.api().Store, store.Key{Namespace: namespace, Name: name})
	return ok
}

// Change patches an object.
func Change[T store.Object](in world, obj T, change func(T)) T {
	in.api().T.Helper()
	changed, err := store.Modify(in.api().Store, store.KeyOf(obj), change)
	require.NoError(in.api().T, err)
	return changed
}

// ChangeStatus patches an object's status.
func ChangeStatus[T store.Object](in world, obj T, change func(T)) T {
	in.api().T.Helper()
	changed, err := store.ModifyStatus(in.api().Store, store.KeyOf(obj), change)
	require.NoError(in.api().T, err)
	return changed
}

// Delete requests an object's deletion.
func Delete[T store.Object](in world, obj T) {
	in.api().T.Helper()
	_, err := store.Delete[T](in.api().Store, store.KeyOf(obj))
	require.NoError(in.api().T, err)
}
