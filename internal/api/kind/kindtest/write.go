// Package kindtest has objects and writes for tests of a store with kinds: small valid objects, and
// writes that must succeed.
package kindtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/store"
)

// Create makes an object, which must succeed.
func Create[T store.Object](t testing.TB, s *store.Store, obj T) T {
	t.Helper()
	stored, err := store.Create(s, obj)
	require.NoError(t, err)
	return stored
}

// Modify changes an object, which must succeed.
func Modify[T store.Object](t testing.TB, s *store.Store, key store.Key, change func(T)) T {
	t.Helper()
	stored, err := store.Modify(s, key, change)
	require.NoError(t, err)
	return stored
}

// ModifyStatus changes an object's status, which must succeed.
func ModifyStatus[T store.Object](t testing.TB, s *store.Store, key store.Key, change func(T)) T {
	t.Helper()
	stored, err := store.ModifyStatus(s, key, change)
	require.NoError(t, err)
	return stored
}

// Remove deletes an object, which must succeed, and returns its last state.
func Remove[T store.Object](t testing.TB, s *store.Store, key store.Key, opts ...store.DeleteOption) T {
	t.Helper()
	last, err := store.Delete[T](s, key, opts...)
	require.NoError(t, err)
	return last
}
