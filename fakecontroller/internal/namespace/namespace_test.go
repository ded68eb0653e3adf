package namespace_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/namespace"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// A namespace goes when all that is in it has gone, and not before.
func TestANamespaceGoesAfterItsContent(t *testing.T) {
	k := kernel.New(kernel.Options{})
	t.Cleanup(k.Close)
	s := kind.NewStore(store.Options{Now: k.Now, Guard: true})
	namespace.Start(component.NewWorld(k, s, trace.NewRecorder(k)))
	_, err := store.Create(s, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leaving"}})
	require.NoError(t, err)
	for name, finalizers := range map[string][]string{"free": nil, "held": {"example.com/hold"}} {
		_, err := store.Create(s, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "leaving", Name: name, Finalizers: finalizers}})
		require.NoError(t, err)
	}
	key := store.Key{Name: "leaving"}
	_, err = store.Delete[*corev1.Namespace](s, key)
	require.NoError(t, err)
	k.Run(kernel.Until{At: 30 * time.Second})
	_, found := store.Get[*corev1.ConfigMap](s, store.Key{Namespace: "leaving", Name: "free"})
	assert.False(t, found)
	_, found = store.Get[*corev1.Namespace](s, key)
	assert.True(t, found, "something holds an object in it")

	_, err = store.Modify(s, store.Key{Namespace: "leaving", Name: "held"}, func(c *corev1.ConfigMap) { c.Finalizers = nil })
	require.NoError(t, err)
	k.Run(kernel.Until{At: time.Minute})
	_, found = store.Get[*corev1.Namespace](s, key)
	assert.False(t, found)
	require.NoError(t, k.Err())
	require.NoError(t, s.VerifyImmutable())
}
