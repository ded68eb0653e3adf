package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

// Given the objects of an earlier store, when they are restored in any order, then they have their
// uids and versions, and new objects get others.
func TestAStoreContinuesWithRestoredObjects(t *testing.T) {
	s := kind.NewStore(store.Options{})
	older, newer := kindtest.Create(t, s, kindtest.Secret("a")), kindtest.Create(t, s, kindtest.Secret("b"))
	generated := func(s *store.Store) *corev1.Secret {
		made, err := store.Create(s, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "c-"}})
		require.NoError(t, err)
		return made
	}
	first := generated(s)

	next := kind.NewStore(store.Options{Starts: 1})
	res, err := store.ResourceOf(older)
	require.NoError(t, err)
	for _, obj := range []*corev1.Secret{newer, first, older} {
		require.NoError(t, next.Restore(res, obj.DeepCopy()))
	}
	next.Continue(s.Revision() + 5)
	for _, obj := range []*corev1.Secret{older, newer, first} {
		restored, _ := store.Get[*corev1.Secret](next, store.KeyOf(obj))
		assert.Equal(t, obj, restored)
	}
	second := generated(next)
	assert.NotEqual(t, first.Name, second.Name)
	assert.NotContains(t, []any{older.UID, newer.UID, first.UID}, second.UID)
	assert.Equal(t, s.Revision()+6, next.Revision())

	older.ResourceVersion = "x"
	assert.EqualError(t, next.Restore(res, older), `secrets default/a has the resource version "x", want a number above 0`)
}
