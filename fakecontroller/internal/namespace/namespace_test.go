package namespace_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/namespace"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/store"
)

// A namespace goes when all that is in it has gone, and not before.
func TestANamespaceGoesAfterItsContent(t *testing.T) {
	c := testcluster.NewAPI(t, nil)
	s := c.Store
	namespace.Start(c.World)
	_, err := store.Create(s, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leaving"}})
	require.NoError(t, err)
	for name, finalizers := range map[string][]string{"free": nil, "held": {"example.com/hold"}} {
		_, err := store.Create(s, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "leaving", Name: name, Finalizers: finalizers}})
		require.NoError(t, err)
	}
	key := store.Key{Name: "leaving"}
	_, err = store.Delete[*corev1.Namespace](s, key)
	require.NoError(t, err)
	c.At(30 * time.Second)
	_, found := store.Get[*corev1.ConfigMap](s, store.Key{Namespace: "leaving", Name: "free"})
	assert.False(t, found)
	_, found = store.Get[*corev1.Namespace](s, key)
	assert.True(t, found, "something holds an object in it")

	_, err = store.Modify(s, store.Key{Namespace: "leaving", Name: "held"}, func(c *corev1.ConfigMap) { c.Finalizers = nil })
	require.NoError(t, err)
	c.At(time.Minute)
	_, found = store.Get[*corev1.Namespace](s, key)
	assert.False(t, found)
}
