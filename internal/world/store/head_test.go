package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

func TestRemovingAnObjectLeavesThoseWithTheSamePrefix(t *testing.T) {
	s := kind.NewStore(store.Options{})
	for _, name := range []string{"d2", "d2b", "d"} {
		_, err := store.Create(s, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		require.NoError(t, err)
	}
	before := s.Snapshot()
	_, err := store.Delete[*corev1.Node](s, store.Key{Name: "d2"})
	require.NoError(t, err)

	names := func(r store.Reader) []string {
		var all []string
		for n := range store.List[*corev1.Node](r, "") {
			all = append(all, n.Name)
		}
		return all
	}
	assert.Equal(t, []string{"d", "d2", "d2b"}, names(before))
	assert.Equal(t, []string{"d", "d2b"}, names(s))
	assert.Equal(t, []string{"d", "d2b"}, names(s.Snapshot()))
	_, ok := store.Get[*corev1.Node](s.Snapshot(), store.Key{Name: "d2b"})
	assert.True(t, ok)
}
